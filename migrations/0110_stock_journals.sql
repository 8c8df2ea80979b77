-- Journals of the ledger for the value of stock: what goods have cost, as the books of a store show it.

-- `inventory_asset`: what the goods on hand have cost. `cogs`: what the goods have cost that were sold. Against them stand
-- `goods_in_transit`, what vendors are owed for goods that have come; `landed_cost`, what others are owed for bringing
-- them; `inventory_opening`, what was there before the first cost was known; `inventory_adjustment`, units that were found or
-- lost.
call fd_unbundle_checks('ledger_entries');
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check
      check (account in ('card_clearing', 'gift_card', 'store_credit', 'sales', 'tax_payable', 'shipping_income',
                         'discount', 'refund', 'affiliate_payable', 'breakage', 'suspense', 'dispute_loss',
                         'exchange', 'commission_expense', 'affiliate_payout', 'inventory_asset', 'goods_in_transit',
                         'cogs', 'landed_cost', 'inventory_opening', 'inventory_adjustment')) not valid;
alter table ledger_entries validate constraint ledger_entries_account_check;
call fd_bundle_checks('ledger_entries');

-- Entries of costs that no journal has yet. Written with the entry and deleted with its journal, so that one that commits late
-- is found all the same, and none is posted twice.
create table inventory_unposted (
  tenant_ref  text        not null,
  entry_id    uuid        not null,
  -- The business time of the transaction: it dates the journal, and entries of one cause have it in common.
  happened_at timestamptz not null default fd_now(),
  primary key (tenant_ref, entry_id)
);
call fd_fence('inventory_unposted', app => 'select, insert', worker => 'select, insert, delete');
call fd_due('inventory_unposted');
alter table inventory_unposted set (autovacuum_vacuum_scale_factor = 0.02,
                                    autovacuum_vacuum_insert_scale_factor = 0.05,
                                    autovacuum_analyze_scale_factor = 0.02);

-- What came before is posted in its order, each entry at its own time.
insert into inventory_unposted (tenant_ref, entry_id, happened_at)
select tenant_ref, id, created_at
  from inventory_cost_entries
 where cost_cents <> 0 or value_cents <> 0 or sold_cents <> 0;

-- A trigger, so that no path that writes an entry can forget its journal.
create function fd_queue_cost_entries() returns trigger
language plpgsql as $$
begin
  insert into inventory_unposted (tenant_ref, entry_id)
  select tenant_ref, id
    from added
   where cost_cents <> 0 or value_cents <> 0 or sold_cents <> 0;
  return null;
end $$;
revoke all on function fd_queue_cost_entries() from public;

create trigger queued after insert on inventory_cost_entries
  referencing new table as added
  for each statement execute function fd_queue_cost_entries();

-- The most that the stock of a variant may be worth, so that the sum of a journal is exact: units that are found are valued at
-- the average, and a thousand million of them may be found by one call.
create function fd_stock_value_max() returns bigint language sql immutable as 'select 10000000000000';

-- The value of a variant's stock after something was added to it, or the refusal.
create function fd_stock_value(before bigint, added numeric) returns bigint
language plpgsql immutable as $$
begin
  if before + added > fd_stock_value_max() then
    raise exception 'the stock of a variant is worth too much'
      using errcode = 'FD004',
            detail = json_build_object('limit', 'stock_value_cents', 'max', fd_stock_value_max(),
                                       'used', before)::text;
  end if;
  return before + added;
end $$;
revoke all on function fd_stock_value_max(), fd_stock_value(bigint, numeric) from public;
grant execute on function fd_stock_value_max(), fd_stock_value(bigint, numeric) to fd_app, fd_worker;

-- As in 0093, with that bound.
create or replace function fd_value_movement() returns trigger
language plpgsql as $$
declare
  known inventory_costs;
  units_before bigint;
  brought numeric;
  filled bigint;
  kept bigint;
  sold bigint := 0;
begin
  select * into known from inventory_costs
   where tenant_ref = new.tenant_ref and variant_id = new.variant_id
     for update;
  if not found then
    if new.cost_cents is null then return null; end if;
    -- The first cost. The receipt has locked the levels; this waits for locations that are new to the variant.
    perform from variants where tenant_ref = new.tenant_ref and id = new.variant_id for update;
    select coalesce(sum(on_hand), 0) - new.quantity into units_before from inventory_levels
     where tenant_ref = new.tenant_ref and variant_id = new.variant_id;
    insert into inventory_costs (tenant_ref, variant_id, units, value_cents, last_units, last_value_cents)
    values (new.tenant_ref, new.variant_id, units_before,
            -- What is there already is taken to have cost as much.
            fd_stock_value(0, round(new.cost_cents::numeric * greatest(units_before, 0) / new.quantity)),
            new.quantity, new.cost_cents)
    returning * into known;
    if units_before <> 0 then
      insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, units_after,
                                          value_after_cents)
      values (new.tenant_ref, new.variant_id, 'opening', units_before, known.value_cents, known.value_cents,
              units_before, known.value_cents);
    end if;
  end if;

  units_before := known.units;
  if new.quantity > 0 then
    brought := coalesce(new.cost_cents,
                        round(known.last_value_cents::numeric * new.quantity / known.last_units));
    if new.order_id is null then
      perform fd_stock_value(known.value_cents, brought);
    else
      -- What comes back from a shopper is never refused.
      brought := least(brought, greatest(0, fd_stock_value_max() - known.value_cents));
    end if;
    filled := least(new.quantity, greatest(-units_before, 0));
    kept := round(brought * (new.quantity - filled) / new.quantity);
    -- What comes back from a shopper was counted as sold.
    sold := brought - kept - case when new.cost_cents is null and new.order_id is not null then brought else 0 end;
  else
    kept := case when units_before <= -new.quantity then -known.value_cents
                 else -round(known.value_cents::numeric * -new.quantity / units_before) end;
    sold := case when new.kind = 'shipped' then -kept else 0 end;
  end if;

  if units_before + new.quantity > 0 then
    known.last_units := units_before + new.quantity;
    known.last_value_cents := known.value_cents + kept;
  elsif units_before > 0 then
    known.last_units := units_before;
    known.last_value_cents := known.value_cents;
  end if;
  update inventory_costs
     set units = units + new.quantity, value_cents = value_cents + kept,
         last_units = known.last_units, last_value_cents = known.last_value_cents,
         arrived = arrived + greatest(new.quantity, 0), updated_at = fd_now()
   where tenant_ref = new.tenant_ref and variant_id = new.variant_id
  returning * into known;
  insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, sold_cents,
                                      units_after, value_after_cents, movement_id, order_id, purchase_order_id)
  values (new.tenant_ref, new.variant_id, new.kind, new.quantity, coalesce(new.cost_cents, 0), kept, sold,
          known.units, known.value_cents, new.id, new.order_id, new.purchase_order_id);
  return null;
end $$;
