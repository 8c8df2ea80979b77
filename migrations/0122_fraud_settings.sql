-- How a store with `advanced_fraud` scores its attempts to pay. A store without a row has the defaults.

create table fraud_settings (
  tenant_ref text        not null references stores,
  settings   jsonb       not null check (jsonb_typeof(settings) = 'object'),
  updated_by text        not null check (length(updated_by) <= 200),
  updated_at timestamptz not null default fd_now(),
  primary key (tenant_ref)
);
call fd_fence('fraud_settings', app => 'select, insert, update', worker => 'select');
