-- Which lots an order's store credit came from, where one of them expires: a refund gives each part back with its own
-- date. Without this a promotion became permanent by buying and cancelling.
create table store_credit_spent (
  tenant_ref text not null references stores,
  order_id uuid not null,
  lot_id uuid not null,
  amount_cents bigint not null check (amount_cents > 0),
  returned_cents bigint not null default 0 check (returned_cents between 0 and amount_cents),
  primary key (tenant_ref, order_id, lot_id),
  foreign key (tenant_ref, lot_id) references store_credit_lots (tenant_ref, id)
);
create index store_credit_spent_by_lot on store_credit_spent (tenant_ref, lot_id);
call fd_fence('store_credit_spent', app => 'select, insert, update', worker => 'select, insert, update');
