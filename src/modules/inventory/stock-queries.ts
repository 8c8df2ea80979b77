import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { type Cause, Level, LockedLevel, LowStock, type Move } from './schema.ts'

/**
 * Locks the order's reservations, then the levels of their variants and of the named variants that
 * are tracked. All transactions lock in the same order, by the sort. A level that another
 * transaction has just changed is read after that change.
 */
export const lockStock = (tx: Tx, order_id: string, variant_ids: readonly string[]) =>
  tx.many(
    LockedLevel,
    sql`
    with reservation as materialized (
      select variant_id, location_id, reserved, allocated, packed, released_at
        from inventory_reservations
       where tenant_ref = ${tx.tenant} and order_id = ${order_id}
       order by variant_id, location_id
         for update
    )
    select l.variant_id, l.location_id, l.on_hand,
           l.on_hand - l.allocated - l.reserved as free,
           coalesce(s.track_inventory, false) as tracked,
           coalesce(s.allow_backorder, false) as allow_backorder,
           coalesce(r.reserved, 0) as reserved, coalesce(r.allocated, 0) as allocated,
           coalesce(r.packed, 0) as packed,
           r.variant_id is not null as has_reservation, r.released_at is not null as released
      from inventory_levels l
      left join inventory_settings s
             on s.tenant_ref = l.tenant_ref and s.variant_id = l.variant_id
      left join reservation r on r.variant_id = l.variant_id and r.location_id = l.location_id
     where l.tenant_ref = ${tx.tenant}
       and l.variant_id = any (array(select variant_id from reservation
                                      union all select unnest(${variant_ids}::uuid[])))
       and (s.track_inventory or r.variant_id is not null)
     order by l.variant_id, l.location_id
       for no key update of l`,
  )

/**
 * Changes locked levels, and records each move that has a kind as a movement. A level may occur
 * once. Movements are written by variant, since each locks the costs of its variant.
 */
export async function moveStock(tx: Tx, moves: readonly Move[], cause: Cause): Promise<Level[]> {
  const levels = await tx.many(
    Level,
    sql`
    with move as (${moveRows(moves, cause)}),
    moved as (
      update inventory_levels l
         set on_hand = l.on_hand + m.on_hand, allocated = l.allocated + m.allocated,
             reserved = l.reserved + m.reserved, incoming = l.incoming + m.incoming,
             updated_at = fd_now()
        from move m
       where l.tenant_ref = ${tx.tenant} and l.variant_id = m.variant_id
         and l.location_id = m.location_id
      returning l.variant_id, l.location_id, l.on_hand, l.allocated, l.reserved, l.incoming
    ),
    recorded as (
      insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                       on_hand_after, allocated_after, order_id,
                                       purchase_order_id, transfer_id, count_id, cost_cents, actor,
                                       reason)
      select ${tx.tenant}, variant_id, location_id, m.kind,
             coalesce(nullif(m.on_hand, 0), m.allocated), l.on_hand, l.allocated,
             ${cause.order_id ?? null}::uuid, ${cause.purchase_order_id ?? null}::uuid,
             ${cause.transfer_id ?? null}::uuid, ${cause.count_id ?? null}::uuid, m.cost_cents,
             ${cause.actor}, m.reason
        from moved l
        join move m using (variant_id, location_id)
       where m.kind is not null
       order by variant_id, location_id
    )
    select location_id, on_hand, allocated, reserved, incoming,
           on_hand - allocated - reserved as available
      from moved`,
  )
  if (levels.length !== moves.length) throw new Error('stock was to be moved that is not there')
  return levels
}

function moveRows(moves: readonly Move[], cause: Cause): Sql {
  const column = <K extends keyof Move>(name: K) => moves.map((move) => move[name])
  const reasons = moves.map(({ reason }) => reason ?? cause.reason ?? null)
  return sql`
    select * from unnest(${column('variant_id')}::uuid[], ${column('location_id')}::text[],
                         ${column('kind')}::text[], ${column('on_hand')}::bigint[],
                         ${column('allocated')}::bigint[], ${column('reserved')}::bigint[],
                         ${moves.map(({ incoming }) => incoming ?? 0)}::bigint[],
                         ${moves.map(({ cost_cents }) => cost_cents ?? null)}::bigint[],
                         ${reasons}::text[])
                  as m (variant_id, location_id, kind, on_hand, allocated, reserved, incoming,
                        cost_cents, reason)`
}

interface Reservation {
  variant_id: string
  location_id: string
  reserved: number
  allocated: number
}

const reservationRows = (tx: Tx, order_id: string, reservations: readonly Reservation[]) => sql`
  select ${tx.tenant}, ${order_id}::uuid, *
    from unnest(${reservations.map((each) => each.variant_id)}::uuid[],
                ${reservations.map((each) => each.location_id)}::text[],
                ${reservations.map((each) => each.reserved)}::bigint[],
                ${reservations.map((each) => each.allocated)}::bigint[])`

const reservationColumns = sql`tenant_ref, order_id, variant_id, location_id, reserved, allocated`

/** Inserts an order's first reservations. An order that has some is refused by the primary key. */
export const insertReservations = (
  tx: Tx,
  order_id: string,
  reservations: readonly Reservation[],
) =>
  tx.run(sql`
    insert into inventory_reservations (${reservationColumns}) ${reservationRows(tx, order_id, reservations)}`)

/** Adds to an order's reservations, or subtracts by a negative number. The rows must be locked. */
export const changeReservations = (tx: Tx, order_id: string, changes: readonly Reservation[]) =>
  tx.run(sql`
    with change (${reservationColumns}) as (${reservationRows(tx, order_id, changes)})
    merge into inventory_reservations r
    using change c on r.tenant_ref = ${tx.tenant} and r.order_id = c.order_id
                  and r.variant_id = c.variant_id and r.location_id = c.location_id
     when matched then
          update set reserved = r.reserved + c.reserved, allocated = r.allocated + c.allocated,
                     updated_at = fd_now()
     when not matched then
          insert (${reservationColumns})
          values (c.tenant_ref, c.order_id, c.variant_id, c.location_id, c.reserved, c.allocated)`)

export const releaseReservations = (tx: Tx, order_id: string) =>
  tx.run(sql`
    update inventory_reservations
       set reserved = 0, allocated = 0, released_at = fd_now(), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = ${order_id} and released_at is null`)

/** Records a change of an order. Returns false if the change was recorded before. */
export const insertChange = async (tx: Tx, order_id: string, change_id: string) =>
  (await tx.run(sql`
    insert into inventory_order_changes (tenant_ref, order_id, change_id)
    values (${tx.tenant}, ${order_id}, ${change_id})
        on conflict do nothing`)) === 1

/** The unsold units of the variants that have a low-stock threshold. */
export const listRemaining = (db: Db, variant_ids: readonly string[]) =>
  db.many(
    LowStock,
    sql`
    select s.variant_id, sum(l.on_hand - l.allocated)::bigint as remaining, s.low_stock_threshold
      from inventory_settings s
      join inventory_levels l on l.tenant_ref = s.tenant_ref and l.variant_id = s.variant_id
     where s.tenant_ref = ${db.tenant} and s.variant_id = any (${variant_ids}::uuid[])
       and s.track_inventory and s.low_stock_threshold is not null
     group by s.variant_id, s.low_stock_threshold
     order by s.variant_id`,
  )

/** How many units can be sold of each variant that is tracked and not backordered. */
export const listLimited = (db: Db, variant_ids: readonly string[]) =>
  db.many(
    Type.Object({ variant_id: Type.String(), available: Type.Integer() }),
    sql`
    select s.variant_id,
           greatest(coalesce(sum(l.on_hand - l.allocated - l.reserved), 0), 0)::bigint as available
      from inventory_settings s
      left join inventory_levels l on l.tenant_ref = s.tenant_ref and l.variant_id = s.variant_id
     where s.tenant_ref = ${db.tenant} and s.variant_id = any (${variant_ids}::uuid[])
       and s.track_inventory and not s.allow_backorder
     group by s.variant_id`,
  )
