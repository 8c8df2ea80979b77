-- The prices that variants had while shoppers could buy at them. A reduction is announced with the lowest price of the
-- 30 days before it (directive 98/6/EC, article 6a), so a change keeps the price that it ends. Rows are never changed.
create table past_prices (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  variant_id  uuid        not null,
  price_cents bigint      not null check (price_cents between 0 and 100000000000),
  currency    text        not null check (currency ~ '^[A-Z]{3}$'),
  until_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, variant_id) references variants (tenant_ref, id)
);
create index past_prices_of_variant on past_prices (tenant_ref, variant_id, until_at);
create index past_prices_by_age on past_prices (tenant_ref, until_at, id);
call fd_fence('past_prices', app => 'select, insert', worker => 'select');
call fd_due('past_prices');
-- Twice the days that a reduction looks back on.
call fd_freeze_young('past_prices', 'until_at', '60 days');

-- Stored with the variant, since every list of products shows it, and it changes only with the price.
alter table variants
  add column lowest_price_30_days_cents bigint check (lowest_price_30_days_cents between 0 and 100000000000);
