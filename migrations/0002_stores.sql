-- A store is a tenant. Its slug stands first in the key of every row it owns.

create sequence store_numbers;

create table stores (
  tenant_ref       text        not null
                   check (tenant_ref ~ '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$'),
  store_number     bigint      not null default nextval('store_numbers'),
  display_name     text        not null check (length(display_name) between 1 and 200),
  status           text        not null default 'draft'
                   check (status in ('draft', 'live', 'suspended')),
  -- Whoever proves this address owns the store. Lower case.
  owner_email      text        check (length(owner_email) <= 254),
  currency         text        not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  language         text        not null default 'en' check (length(language) <= 35),
  time_zone        text        not null default 'UTC' check (length(time_zone) <= 64),
  active_version   integer     check (active_version > 0),
  primary_hostname text        check (length(primary_hostname) <= 253),
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  constraint stores_pkey primary key (tenant_ref)
);

call fd_fence('stores', app => 'select, insert, update', worker => 'select, update');
grant usage on sequence store_numbers to fd_app;

-- For the owner's list of stores, before any tenant is known.
create index stores_by_owner on stores (owner_email) where owner_email is not null;
