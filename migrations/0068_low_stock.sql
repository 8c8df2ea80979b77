-- Whether a variant has no more units than its threshold: stored, so that the variants with low stock are a
-- range of an index. It changes rarely, when the units cross the threshold, though stock changes with every
-- order.
alter table variants add column is_low boolean not null default false;

-- Low with the settings and levels that are committed, and with those of the caller.
create function fd_is_low(store text, variant uuid) returns boolean
  language sql stable as $$
  select coalesce((select s.track_inventory
                          and s.low_stock_threshold >=
                              (select coalesce(sum(l.on_hand - l.allocated), 0)
                                 from inventory_levels l
                                where l.tenant_ref = store and l.variant_id = variant)
                     from inventory_settings s
                    where s.tenant_ref = store and s.variant_id = variant), false)
$$;

update variants v set is_low = true where fd_is_low(v.tenant_ref, v.id);

create index variants_by_stock on variants (tenant_ref, is_low, sku) where archived_at is null;

-- Two locations of a variant may change in two transactions at once: the lock of the settings lets the
-- second of them count what the first has written.
create function fd_refresh_low(in_stores text[], variant_ids uuid[]) returns void
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  one record;
begin
  for one in
    select s.tenant_ref, s.variant_id
      from inventory_settings s
     where (s.tenant_ref, s.variant_id) in (select * from unnest(in_stores, variant_ids))
       and s.track_inventory and s.low_stock_threshold is not null
     order by s.tenant_ref, s.variant_id
       for no key update
  loop
    update variants v
       set is_low = not v.is_low
     where v.tenant_ref = one.tenant_ref and v.id = one.variant_id
       and v.is_low <> fd_is_low(v.tenant_ref, v.id);
  end loop;
end $$;

create function fd_note_new_stock() returns trigger
  language plpgsql as $$
begin
  perform fd_refresh_low(array_agg(tenant_ref), array_agg(variant_id)) from changed;
  return null;
end $$;

-- A reservation alone changes nothing: units are low by what is not allocated.
create function fd_note_stock() returns trigger
  language plpgsql as $$
begin
  perform fd_refresh_low(array_agg(c.tenant_ref), array_agg(c.variant_id))
     from changed c
     join before b using (tenant_ref, variant_id, location_id)
    where c.on_hand - c.allocated <> b.on_hand - b.allocated
   having count(*) > 0;
  return null;
end $$;

create function fd_note_stock_settings() returns trigger
  language plpgsql as $$
begin
  update variants v
     set is_low = not v.is_low
   where v.tenant_ref = new.tenant_ref and v.id = new.variant_id
     and v.is_low <> fd_is_low(v.tenant_ref, v.id);
  return null;
end $$;

create trigger low_stock_insert after insert on inventory_levels
  referencing new table as changed
  for each statement execute function fd_note_new_stock();
create trigger low_stock_update after update on inventory_levels
  referencing old table as before new table as changed
  for each statement execute function fd_note_stock();
create trigger low_stock after insert or update on inventory_settings
  for each row execute function fd_note_stock_settings();

revoke all on function fd_is_low(text, uuid), fd_refresh_low(text[], uuid[]), fd_note_new_stock(),
  fd_note_stock(), fd_note_stock_settings() from public;
grant execute on function fd_is_low(text, uuid), fd_refresh_low(text[], uuid[]) to fd_app, fd_worker;
-- The worker releases the stock of orders. To lock the settings it needs the right to change some column.
grant update (is_low) on variants to fd_worker;
grant update (updated_at) on inventory_settings to fd_worker;
