-- Whether the prices of an order have its tax inside. Stored with the order, so that a store can
-- change its prices without touching old orders: the total then adds no tax.
alter table orders add column prices_include_tax boolean not null default false;

alter table orders
  drop constraint orders_check1,
  add constraint orders_total_check check (
    total_cents = subtotal_cents - discount_cents + shipping_cents
                  + case when prices_include_tax then 0 else tax_cents end) not valid,
  add constraint orders_tax_inside_check check (
    not prices_include_tax or tax_cents <= total_cents) not valid;
alter table orders validate constraint orders_total_check;
alter table orders validate constraint orders_tax_inside_check;
