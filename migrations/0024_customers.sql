-- Whom a store knows, by the storefront's own name for them.

create table customers (
  tenant_ref    text        not null references stores,
  -- A keyed hash of customer_ref. It stays when all else is erased, so that whatever still comes in
  -- under that reference finds the tombstone and restores nothing.
  ref_hash      bytea       not null check (length(ref_hash) = 32),
  customer_ref  text        check (length(customer_ref) between 1 and 200),
  person_id     uuid,
  email         text        check (length(email) <= 320),
  -- The one spelling for comparing: guests are matched by it.
  email_folded  text        check (length(email_folded) <= 320),
  name          text        check (length(name) <= 300),
  tags          text[]      not null default '{}',
  first_seen_at timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  erased_at     timestamptz,
  primary key (tenant_ref, ref_hash),
  check ((erased_at is null) = (customer_ref is not null)),
  check (erased_at is null or (person_id is null and email is null and email_folded is null
                               and name is null and tags = '{}'))
);

call fd_fence('customers', app => 'select, insert, update', worker => 'select, insert, update');

create index customers_by_ref on customers (tenant_ref, customer_ref) where erased_at is null;
create index customers_by_email on customers (tenant_ref, email_folded)
 where email_folded is not null;
create index customers_newest on customers (tenant_ref, first_seen_at desc, ref_hash)
 where erased_at is null;
