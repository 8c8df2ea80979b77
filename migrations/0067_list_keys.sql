-- Indexes that have the key of a list beside what it is filtered by: the page is chosen, and the rows are
-- counted, without reading the table.

-- Orders that are paid, or are no tests, are most of them. `orders_newest` counts them.
drop index orders_newest;
create index orders_newest on orders (tenant_ref, created_at desc, id desc)
  include (is_test, payment_status);

-- The lines of a SKU in the order of the list of orders. Both times are set by one statement.
alter table order_items add column ordered_at timestamptz;
update order_items i
   set ordered_at = o.created_at
  from orders o
 where o.tenant_ref = i.tenant_ref and o.id = i.order_id;
alter table order_items
  alter column ordered_at set default fd_now(),
  alter column ordered_at set not null;
drop index order_items_by_sku;
create index order_items_by_sku
  on order_items (tenant_ref, sku text_pattern_ops, ordered_at desc, order_id desc);

-- An erased customer has no reference, name or address, so that these indexes have none of them.
drop index customers_by_ref, customers_by_email, customers_by_name, customers_by_last_name;
create index customers_by_ref on customers (tenant_ref, ref_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where ref_folded is not null;
create index customers_by_email on customers (tenant_ref, email_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where email_folded is not null;
create index customers_by_name on customers (tenant_ref, name_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where name_folded is not null;
create index customers_by_last_name on customers (tenant_ref, last_name_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where last_name_folded is not null;

-- Listed are the codes of a coupon that can be used once.
drop index coupon_codes_of_coupon;
create index coupon_codes_of_coupon
  on coupon_codes (tenant_ref, coupon_id, single_use, created_at, id);
