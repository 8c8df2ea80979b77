-- An index for each filter of a list. Every index on orders costs each checkout, which inserts its order and updates
-- it once, and neither write is in place (the status is indexed): so two writes to an index of all orders, none to one
-- whose condition a placed order does not meet.

-- Most orders of a store are paid: a page of them is found by walking the newest orders. Any other state may be rare.
-- A checkout writes here once, while its payment is pending.
create index orders_by_payment_status on orders (tenant_ref, payment_status, created_at desc, id desc)
  where payment_status <> 'paid';

-- Of all orders: in a store that ships, few are unfulfilled, and in one that does not, all are.
create index orders_by_fulfillment_status on orders (tenant_ref, fulfillment_status, created_at desc, id desc);

-- A store that is live has few test orders. The others are most of its orders, and need no index.
create index orders_tests on orders (tenant_ref, created_at desc, id desc) where is_test;

create index orders_by_coupon on orders (tenant_ref, coupon_code, created_at desc, id desc)
  where coupon_code is not null;

-- Orders on hold are few. The longest held comes first.
create index orders_on_hold on orders (tenant_ref, hold_reason, hold_at, id) where status = 'on_hold';

-- A checkout that is accepted writes nothing here.
create index fraud_decisions_by_decision on fraud_decisions (tenant_ref, decision, created_at desc, id desc)
  where decision <> 'accepted';

create index fraud_bans_of_kind on fraud_bans (tenant_ref, kind, created_at desc, id desc);
-- Active or expired goes by the time. Few bans of the wanted kind are found here and sorted; many, by walking the
-- newest bans.
create index fraud_bans_unlifted on fraud_bans (tenant_ref, expires_at) where lifted_at is null;
create index fraud_bans_lifted on fraud_bans (tenant_ref, created_at desc, id desc) where lifted_at is not null;

-- Whether a coupon is used up, as a column of its own: it changes once, and an index over used_count would be written
-- by every order with a coupon.
alter table coupons add column is_exhausted boolean not null
  generated always as (coalesce(used_count >= usage_limit, false)) stored;
create index coupons_by_status on coupons (tenant_ref, status, created_at desc, id desc);
-- Active, expired or exhausted goes by the time, as for bans.
create index coupons_by_end on coupons (tenant_ref, ends_at, is_exhausted) where status = 'active';

create index gift_cards_by_status on gift_cards (tenant_ref, status, created_at desc, id desc);

create index payment_discrepancies_open on payment_discrepancies (tenant_ref, created_at desc, id desc)
  where resolved_at is null;

-- A search reads the beginnings of these texts in all customers. The last word of a name is the family name in most
-- languages that write it last.
alter table customers
  add column ref_folded text generated always as (lower(customer_ref)) stored,
  add column name_folded text generated always as (lower(name)) stored,
  add column last_name_folded text generated always as (lower(substring(name from '\s(\S+)\s*$'))) stored;
create index customers_by_ref on customers (tenant_ref, ref_folded text_pattern_ops) where erased_at is null;
create index customers_by_name on customers (tenant_ref, name_folded text_pattern_ops)
  where name_folded is not null;
create index customers_by_last_name on customers (tenant_ref, last_name_folded text_pattern_ops)
  where last_name_folded is not null;
drop index customers_by_email;
create index customers_by_email on customers (tenant_ref, email_folded text_pattern_ops)
  where email_folded is not null;

-- In one direction for both columns: a cursor compares them together.
drop index customers_newest;
create index customers_newest on customers (tenant_ref, first_seen_at desc, ref_hash desc) where erased_at is null;
