import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { type ParcelMove, WorkUnits } from './schema.ts'

/**
 * Locks the reservations of these orders, then their levels, in the same order as every transaction. The
 * orders must be locked before.
 */
export const lockReserved = (tx: Tx, order_ids: readonly string[]) =>
  tx.run(sql`
    with reservation as materialized (
      select variant_id, location_id
        from inventory_reservations
       where tenant_ref = ${tx.tenant} and order_id = any (${order_ids}::uuid[])
       order by order_id, variant_id, location_id
         for update
    )
    select from inventory_levels l
     where l.tenant_ref = ${tx.tenant}
       and (l.variant_id, l.location_id) in (select variant_id, location_id from reservation)
     order by l.variant_id, l.location_id
       for no key update`)

/**
 * Lists the units that orders have allocated and not packed, by variant and location, and how many of them are
 * there.
 *
 * Which orders wait for stock is not stored but computed: the units on hand that are not packed serve the
 * allocations of a level by the orders' ids, which is the order of their time. So a receipt, a cancellation or
 * a count serves the oldest order in its own transaction. Older orders are read only where a level has
 * allocated more units than it has (decision 0033).
 */
export const listWork = (db: Db, order_ids: readonly string[]) =>
  db.many(
    WorkUnits,
    sql`
    select r.order_id, r.variant_id, r.location_id, r.allocated - r.packed as open,
           least(r.allocated - r.packed,
                 greatest(0, l.on_hand - l.packed - coalesce(older.open, 0)))::bigint as ready
      from inventory_reservations r
      join inventory_levels l
        on l.tenant_ref = r.tenant_ref and l.variant_id = r.variant_id
       and l.location_id = r.location_id
      left join lateral (
           select sum(o.allocated - o.packed) as open
             from inventory_reservations o
            where l.allocated > l.on_hand and o.tenant_ref = ${db.tenant}
              and o.variant_id = r.variant_id and o.location_id = r.location_id
              and o.order_id < r.order_id and (o.reserved > 0 or o.allocated > 0)) as older on true
     where r.tenant_ref = ${db.tenant} and r.order_id = any (${order_ids}::uuid[])
       and r.allocated > r.packed
     order by r.order_id, r.variant_id, r.location_id`,
  )

const Moved = Type.Object({ levels: Type.Integer(), reservations: Type.Integer() })

const moveColumns = sql`
  n int, order_id uuid, fulfillment_id uuid, variant_id uuid, location_id text, kind text,
  on_hand bigint, allocated bigint, packed bigint, reason text`

/**
 * Changes locked levels and reservations, and records the moves that have a kind, in their order. A
 * level may occur several times: each movement shows the level as it left it.
 */
export const moveParcels = (tx: Tx, moves: readonly ParcelMove[], actor: string) =>
  tx.one(
    Moved,
    sql`
    with move as materialized (
      select *
        from jsonb_to_recordset(${JSON.stringify(moves.map((move, n) => ({ n, ...move })))})
             as m (${moveColumns})
    ),
    level as (
      update inventory_levels l
         set on_hand = l.on_hand + m.on_hand, allocated = l.allocated + m.allocated,
             packed = l.packed + m.packed, updated_at = fd_now()
        from (select variant_id, location_id, sum(on_hand)::bigint as on_hand,
                     sum(allocated)::bigint as allocated, sum(packed)::bigint as packed
                from move group by 1, 2) as m
       where l.tenant_ref = ${tx.tenant} and l.variant_id = m.variant_id
         and l.location_id = m.location_id
      returning l.variant_id, l.location_id, l.on_hand, l.allocated
    ),
    reservation as (
      update inventory_reservations r
         set allocated = r.allocated + m.allocated, packed = r.packed + m.packed,
             updated_at = fd_now()
        from (select order_id, variant_id, location_id, sum(allocated)::bigint as allocated,
                     sum(packed)::bigint as packed
                from move group by 1, 2, 3) as m
       where r.tenant_ref = ${tx.tenant} and r.order_id = m.order_id
         and r.variant_id = m.variant_id and r.location_id = m.location_id
      returning r.order_id
    ),
    recorded as (
      insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                       on_hand_after, allocated_after, order_id, fulfillment_id,
                                       actor, reason)
      select ${tx.tenant}, variant_id, location_id, m.kind,
             coalesce(nullif(m.on_hand, 0), m.allocated),
             l.on_hand - coalesce(sum(m.on_hand) over later, 0),
             l.allocated - coalesce(sum(m.allocated) over later, 0),
             m.order_id, m.fulfillment_id, ${actor}, m.reason
        from move m
        join level l using (variant_id, location_id)
       where m.kind is not null
      window later as (partition by variant_id, location_id order by m.n
                       rows between 1 following and unbounded following)
       order by m.n
    )
    select (select count(*) from level)::int as levels,
           (select count(*) from reservation)::int as reservations`,
  )
