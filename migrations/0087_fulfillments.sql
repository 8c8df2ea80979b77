-- Parcels. Units of an order are packed into fulfilments, which are shipped, delivered, cancelled or recalled.
-- Packed units leave the order's open quantity; stock moves when they are shipped.

alter table order_items
  add column packed_quantity integer not null default 0 check (packed_quantity >= 0),
  add constraint order_items_units_check
      check (packed_quantity + shipped_quantity <= quantity) not valid;
alter table order_items validate constraint order_items_units_check;

-- How many of the allocated units are packed: by an order, and at a location. A packed unit is on the packing
-- table, so no other order can count on it.
alter table inventory_levels
  add column packed bigint not null default 0 check (packed >= 0);
alter table inventory_reservations
  add column packed bigint not null default 0,
  add constraint inventory_reservations_packed_check check (packed between 0 and allocated) not valid;
alter table inventory_reservations validate constraint inventory_reservations_packed_check;

-- Which orders wait for stock follows from the allocations, the oldest order first; see inventory/work-queries.ts.
drop index inventory_reservations_open;
create index inventory_reservations_open
    on inventory_reservations (tenant_ref, variant_id, location_id, order_id)
       include (reserved, allocated, packed) where reserved > 0 or allocated > 0;

create table fulfillments (
  tenant_ref         text        not null references stores,
  id                 uuid        not null default fd_uuid(),
  order_id           uuid        not null,
  number             integer     not null check (number > 0),
  fulfillment_number text        not null check (length(fulfillment_number) <= 50),
  location_id        text        not null,
  status             text        not null default 'pending'
                     check (status in ('pending', 'shipped', 'delivered', 'cancelled')),
  carrier            text        check (length(carrier) <= 100),
  service            text        check (length(service) <= 100),
  tracking_number    text        check (length(tracking_number) <= 200),
  tracking_url       text        check (length(tracking_url) <= 2000),
  weight_grams       integer     check (weight_grams between 1 and 1000000000),
  cancel_reason      text        check (cancel_reason in
                                        ('lost', 'returned_to_sender', 'error', 'order_cancelled')),
  created_by         text        not null check (length(created_by) <= 200),
  created_at         timestamptz not null default fd_now(),
  updated_at         timestamptz not null default fd_now(),
  shipped_at         timestamptz,
  delivered_at       timestamptz,
  cancelled_at       timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, order_id, number),
  foreign key (tenant_ref, order_id) references orders,
  check ((status in ('shipped', 'delivered')) <= (shipped_at is not null)),
  check ((status = 'delivered') <= (delivered_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
);
call fd_fence('fulfillments', app => 'select, insert, update', worker => 'select, insert, update');

create index fulfillments_newest on fulfillments (tenant_ref, created_at desc, id desc);
create index fulfillments_of_status on fulfillments (tenant_ref, status, created_at desc, id desc);

create table fulfillment_items (
  tenant_ref      text    not null references stores,
  fulfillment_id  uuid    not null,
  order_item_id   uuid    not null,
  position        integer not null,
  variant_id      uuid    not null,
  sku             text    not null,
  product_name    text    not null,
  label           text,
  quantity        integer not null check (quantity > 0),
  -- How many of the units were allocated from stock. The others are of a variant that is not tracked, or was not when
  -- the order was placed.
  stock_quantity  integer not null check (stock_quantity between 0 and quantity),
  primary key (tenant_ref, fulfillment_id, order_item_id),
  foreign key (tenant_ref, fulfillment_id) references fulfillments,
  foreign key (tenant_ref, order_item_id) references order_items
);
call fd_fence('fulfillment_items', app => 'select, insert', worker => 'select, insert');
create index fulfillment_items_of_line on fulfillment_items (tenant_ref, order_item_id);

-- The pick queue: orders with units to pack, that nothing holds, the oldest first. Derived with the status.
alter table orders add column has_work boolean not null default false;
update orders o
   set has_work = true
 where status in ('placed', 'processing', 'partially_refunded')
   and exists (select from order_items i
                where i.tenant_ref = o.tenant_ref and i.order_id = o.id and i.quantity > 0);
create index orders_with_work on orders (tenant_ref, created_at, id) where has_work;
