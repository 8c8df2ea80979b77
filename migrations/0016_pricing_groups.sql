-- Prices of their own for groups of customers.

create table pricing_groups (
  tenant_ref     text        not null references stores,
  id             uuid        not null default gen_random_uuid(),
  name           text        not null check (length(name) between 1 and 200),
  -- So much off the list, for everything. Null: only what has a price below.
  adjustment_bps integer     check (adjustment_bps between 1 and 10000),
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  primary key (tenant_ref, id)
);
create index pricing_groups_newest on pricing_groups (tenant_ref, created_at desc, id desc);

-- Customers are known by whatever the storefront calls them; they need not have bought yet.
create table pricing_group_members (
  tenant_ref   text        not null references stores,
  group_id     uuid        not null,
  customer_ref text        not null check (length(customer_ref) between 1 and 200),
  created_at   timestamptz not null default now(),
  primary key (tenant_ref, group_id, customer_ref),
  constraint pricing_group_members_group foreign key (tenant_ref, group_id)
    references pricing_groups on delete cascade
);
-- What a checkout asks: which groups is this customer in.
create index pricing_group_members_of_customer
    on pricing_group_members (tenant_ref, customer_ref, group_id);

create table pricing_group_prices (
  tenant_ref   text        not null references stores,
  group_id     uuid        not null,
  variant_id   uuid        not null,
  -- From so many units on. A variant may have a price for each of several quantities.
  min_quantity integer     not null check (min_quantity between 1 and 10000),
  price_cents  bigint      not null check (price_cents between 0 and 100000000000),
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  primary key (tenant_ref, group_id, variant_id, min_quantity),
  constraint pricing_group_prices_group foreign key (tenant_ref, group_id)
    references pricing_groups on delete cascade,
  constraint pricing_group_prices_variant foreign key (tenant_ref, variant_id) references variants
);

call fd_fence('pricing_groups', app => 'select, insert, update, delete', worker => 'select');
call fd_fence('pricing_group_members', app => 'select, insert, delete', worker => 'select');
call fd_fence('pricing_group_prices', app => 'select, insert, update, delete', worker => 'select');
