import assert from 'node:assert/strict'
import type pg from 'pg'

/**
 * Rules that hold for every store's stock at any moment. Each statement lists the violating rows.
 */
const COUNTED: Readonly<Record<string, string>> = {
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
             (where m.kind in ('received', 'shipped', 'adjusted')), 0)
        or l.allocated <> coalesce(sum(m.quantity) filter
             (where m.kind in ('allocated', 'released', 'shipped')), 0)`,
  'each movement continues the one before it': `
    select *
      from (select m.*,
                   coalesce(lag(on_hand_after) over level, 0)
                     + case when kind in ('received', 'shipped', 'adjusted')
                            then quantity else 0 end as on_hand_due,
                   coalesce(lag(allocated_after) over level, 0)
                     + case when kind in ('allocated', 'released', 'shipped')
                            then quantity else 0 end as allocated_due
              from inventory_movements m
            window level as (partition by tenant_ref, variant_id, location_id order by seq)) x
     where on_hand_after <> on_hand_due or allocated_after <> allocated_due`,
}

const NOT_OVERSOLD: typeof COUNTED = {
  'no more is reserved than is on hand, unless backorders are allowed': `
    select l.tenant_ref, l.variant_id, sum(l.on_hand - l.allocated - l.reserved) as available
      from inventory_levels l
      join inventory_settings s using (tenant_ref, variant_id)
     where s.track_inventory and not s.allow_backorder
     group by 1, 2
    having sum(l.on_hand - l.allocated - l.reserved) < 0`,
}

/** For tests in which no merchant lowers the stock below what was sold. */
export const STOCK_ORACLES: typeof COUNTED = { ...COUNTED, ...NOT_OVERSOLD }
export const assertStockAddsUp = (superuser: pg.Client) => assertNone(superuser, STOCK_ORACLES)

/** For tests in which a merchant does so, or stops to allow backorders. */
export const assertStockIsCounted = (superuser: pg.Client) => assertNone(superuser, COUNTED)

async function assertNone(superuser: pg.Client, oracles: typeof COUNTED): Promise<void> {
  for (const [rule, query] of Object.entries(oracles)) {
    const { rows } = await superuser.query(query)
    assert.deepEqual(rows, [], rule)
  }
}
