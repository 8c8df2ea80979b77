import { assertNone, type Oracles, type Queried } from './check-oracles.ts'
import { STOCK_JOURNAL_ORACLES } from './stock-journal-oracles.ts'

/**
 * Rules that hold for every store's stock at any moment. Each statement lists the violating rows.
 */
export const COUNTED: Oracles = {
  "reserved and allocated are the sums of the orders' reservations": `
    select l.tenant_ref, l.variant_id, l.location_id, l.reserved, l.allocated,
           coalesce(sum(r.reserved), 0) as held_reserved,
           coalesce(sum(r.allocated), 0) as held_allocated
      from inventory_levels l
      left join inventory_reservations r using (tenant_ref, variant_id, location_id)
     group by 1, 2, 3, 4, 5
    having l.reserved <> coalesce(sum(r.reserved), 0)
        or l.allocated <> coalesce(sum(r.allocated), 0)`,
  "packed is the sum of the orders' packed units": `
    select l.tenant_ref, l.variant_id, l.location_id, l.packed, coalesce(sum(r.packed), 0) as held
      from inventory_levels l
      left join inventory_reservations r using (tenant_ref, variant_id, location_id)
     group by 1, 2, 3, 4
    having l.packed <> coalesce(sum(r.packed), 0)`,
  'on hand and allocated are the sums of the movements': `
    select l.tenant_ref, l.variant_id, l.location_id, l.on_hand, l.allocated
      from inventory_levels l
      left join inventory_movements m using (tenant_ref, variant_id, location_id)
     group by 1, 2, 3, 4, 5
    having l.on_hand <> coalesce(sum(m.quantity) filter
             (where m.kind in ('received', 'shipped', 'adjusted', 'transferred')), 0)
        or l.allocated <> coalesce(sum(m.quantity) filter
             (where m.kind in ('allocated', 'released', 'shipped')), 0)`,
  'each movement continues the one before it': `
    select *
      from (select m.*,
                   coalesce(lag(on_hand_after) over level, 0)
                     + case when kind in ('received', 'shipped', 'adjusted', 'transferred')
                            then quantity else 0 end as on_hand_due,
                   coalesce(lag(allocated_after) over level, 0)
                     + case when kind in ('allocated', 'released', 'shipped')
                            then quantity else 0 end as allocated_due
              from inventory_movements m
            window level as (partition by tenant_ref, variant_id, location_id order by seq)) x
     where on_hand_after <> on_hand_due or allocated_after <> allocated_due`,
  'a transfer changes nothing over all locations': `
    select tenant_ref, transfer_id, sum(quantity)
      from inventory_movements where transfer_id is not null
     group by 1, 2
    having sum(quantity) <> 0 or count(*) <> 2 or min(kind) <> 'transferred'`,
  'what is incoming is what open purchase orders expect': `
    select l.tenant_ref, l.variant_id, l.location_id, l.incoming, coalesce(p.open, 0) as open
      from inventory_levels l
      left join (select o.tenant_ref, n.variant_id, o.location_id,
                        sum(greatest(0, n.quantity - n.received_quantity - n.rejected_quantity)) as open
                   from purchase_orders o
                   join purchase_order_lines n
                     on n.tenant_ref = o.tenant_ref and n.purchase_order_id = o.id
                  where o.status in ('ordered', 'partially_received')
                  group by 1, 2, 3) p using (tenant_ref, variant_id, location_id)
     where l.incoming <> coalesce(p.open, 0)`,
  'what was received of a line is what its receipts added, and what its movements brought': `
    select n.tenant_ref, n.id, n.received_quantity, n.rejected_quantity, r.added, r.rejected, m.moved
      from purchase_order_lines n
      join lateral (select coalesce(sum(added), 0) as added, coalesce(sum(rejected), 0) as rejected
                      from purchase_receipt_lines r
                     where r.tenant_ref = n.tenant_ref and r.line_id = n.id) r on true
      join lateral (select coalesce(sum(quantity), 0) as moved
                      from inventory_movements m
                     where m.tenant_ref = n.tenant_ref and m.variant_id = n.variant_id
                       and m.purchase_order_id = n.purchase_order_id) m on true
     where n.received_quantity <> r.added or n.rejected_quantity <> r.rejected
        or n.received_quantity <> m.moved`,
  'the units that have a cost are those on hand': `
    select c.tenant_ref, c.variant_id, c.units, sum(l.on_hand) as on_hand
      from inventory_costs c
      join inventory_levels l using (tenant_ref, variant_id)
     group by 1, 2, 3
    having c.units <> sum(l.on_hand)`,
  'the value of the stock is the sum of its changes, and so are its units': `
    select c.tenant_ref, c.variant_id, c.units, c.value_cents, e.units as sum_units, e.value
      from inventory_costs c
      join lateral (select coalesce(sum(units), 0) as units, coalesce(sum(value_cents), 0) as value
                      from inventory_cost_entries e
                     where e.tenant_ref = c.tenant_ref and e.variant_id = c.variant_id) e on true
     where c.units <> e.units or c.value_cents <> e.value`,
  'the average times the units is the value': `
    select tenant_ref, variant_id, units, value_cents, last_units, last_value_cents
      from inventory_costs
     where units > 0 and (last_units <> units or last_value_cents <> value_cents)`,
  'a cost that came from outside is in the stock, or in what was sold': `
    select *
      from inventory_cost_entries
     where kind in ('opening', 'landed_cost') and cost_cents <> value_cents + sold_cents
        or kind = 'received' and purchase_order_id is not null
           and cost_cents <> value_cents + sold_cents
        or kind = 'shipped' and value_cents + sold_cents <> 0`,
  'a landed cost is split to the cent': `
    select c.tenant_ref, c.id, c.amount_cents, sum(a.amount_cents) as split
      from purchase_costs c
      left join purchase_cost_allocations a on a.tenant_ref = c.tenant_ref and a.cost_id = c.id
     group by 1, 2, 3
    having c.amount_cents <> coalesce(sum(a.amount_cents), 0)`,
  ...STOCK_JOURNAL_ORACLES,
}

const NOT_OVERSOLD: typeof COUNTED = {
  'no more is reserved than is on hand, unless backorders are allowed': `
    select l.tenant_ref, l.variant_id, sum(l.on_hand - l.allocated - l.reserved) as available
      from inventory_levels l
      join inventory_settings s using (tenant_ref, variant_id)
     where s.track_inventory and not s.allow_backorder
       and not exists (select from subscription_settings r
                        where r.tenant_ref = l.tenant_ref and r.on_out_of_stock = 'backorder')
     group by 1, 2
    having sum(l.on_hand - l.allocated - l.reserved) < 0`,
}

/** Rules for tests in which variants are tracked before their first order, and stay so. */
export const OPEN_UNITS: typeof COUNTED = {
  'the units that are allocated to an order are its open and packed units': `
    select o.tenant_ref, o.id, i.variant_id, i.open, coalesce(r.allocated, 0) as allocated
      from orders o
      join lateral (select variant_id,
                           sum(quantity - shipped_quantity - restocked_quantity) as open
                      from order_items
                     where tenant_ref = o.tenant_ref and order_id = o.id
                     group by variant_id) i on true
      join inventory_settings s
        on s.tenant_ref = o.tenant_ref and s.variant_id = i.variant_id and s.track_inventory
      left join lateral (select sum(allocated) as allocated from inventory_reservations
                          where tenant_ref = o.tenant_ref and order_id = o.id
                            and variant_id = i.variant_id) r on true
     where o.placed_at is not null and o.cancelled_at is null
       and i.open <> coalesce(r.allocated, 0)`,
}

/** Rules for tests in which no merchant lowers the stock below what was sold. */
export const STOCK_ORACLES: typeof COUNTED = { ...COUNTED, ...NOT_OVERSOLD }
export const assertStockAddsUp = (superuser: Queried) => assertNone(superuser, STOCK_ORACLES)

/** Like `assertStockAddsUp`, for tests in which a merchant does lower it, or stops allowing backorders. */
export const assertStockIsCounted = (superuser: Queried) => assertNone(superuser, COUNTED)
