-- Who changed what, and when. Written in the transaction of the change; never changed itself.

create table audit_log (
  tenant_ref     text        not null references stores,
  id             uuid        not null default gen_random_uuid(),
  -- A kind and an id, e.g. 'merchant_key:<credential id>', 'operator', 'owner:<id>', 'system'.
  actor          text        not null check (length(actor) <= 200),
  action         text        not null check (length(action) <= 100),
  entity         text        not null check (length(entity) <= 300),
  before         jsonb,
  after          jsonb,
  -- The caller's own words, verbatim, where an act needs them.
  reason         text        check (length(reason) <= 2000),
  correlation_id uuid,
  created_at     timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id)
);

call fd_fence('audit_log', app => 'select, insert', worker => 'select, insert');
call fd_freeze('audit_log');

create index audit_log_newest on audit_log (tenant_ref, created_at desc, id desc);
