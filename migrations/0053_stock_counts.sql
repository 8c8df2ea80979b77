-- The recount of stock goes on from where the last one ended. A level's movements are written under
-- the lock of that level, so their `seq` is also the order of their commits: a statement that sees one of them
-- sees all earlier ones of that level, and a sum up to a `seq` misses none that commits later.
create table inventory_counts (
  tenant_ref  text        not null references stores,
  variant_id  uuid        not null,
  location_id text        not null,
  -- The last movement in the sums.
  seq         bigint      not null,
  on_hand     bigint      not null,
  allocated   bigint      not null,
  -- From then on the sums begin at the first movement again.
  again_at    timestamptz not null,
  primary key (tenant_ref, variant_id, location_id),
  foreign key (tenant_ref, variant_id, location_id) references inventory_levels
);
call fd_fence('inventory_counts', app => 'select', worker => 'select, insert, update');

-- One row for each store with stock: when it is recounted next, and the last level that this recount
-- has passed.
create table inventory_recounts (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  -- Machine time, as of all work of the platform itself.
  due_at      timestamptz not null,
  lease_until timestamptz,
  lease_token uuid,
  variant_id  uuid,
  location_id text,
  begun_at    timestamptz,
  ended_at    timestamptz,
  primary key (tenant_ref),
  check ((variant_id is null) = (location_id is null))
);
call fd_fence('inventory_recounts', app => 'select', worker => 'select, insert, update');
create policy due on inventory_recounts for select to fd_worker using (true);
create index inventory_recounts_due on inventory_recounts (due_at);

-- With the order last and the sums inside, the open reservations of a level are added up in slices,
-- from the index alone.
drop index inventory_reservations_open;
create index inventory_reservations_open
    on inventory_reservations (tenant_ref, variant_id, location_id, order_id)
       include (reserved, allocated)
 where reserved > 0 or allocated > 0;
