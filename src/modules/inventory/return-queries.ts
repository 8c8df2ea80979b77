import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import type { PlacedUnits } from './schema.ts'

/** Lists those of the variants whose stock is counted. */
export const listTracked = (db: Db, variant_ids: readonly string[]) =>
  db.many(
    Type.Object({ variant_id: Id }),
    sql`
    select variant_id
      from inventory_settings
     where tenant_ref = ${db.tenant} and variant_id = any (${variant_ids}::uuid[])
       and track_inventory
     order by variant_id`,
  )

const rowsOf = (units: readonly PlacedUnits[]) => sql`
  unnest(${units.map(({ variant_id }) => variant_id)}::uuid[],
         ${units.map(({ location_id }) => location_id)}::text[],
         ${units.map(({ quantity }) => quantity)}::bigint[])
    as u (variant_id, location_id, quantity)`

/** Creates the levels of variants at locations where they have none yet. */
export const ensureLevels = (tx: Tx, units: readonly PlacedUnits[]) =>
  tx.run(sql`
    insert into inventory_levels (tenant_ref, variant_id, location_id)
    select ${tx.tenant}, variant_id, location_id
      from ${rowsOf(units)}
     order by variant_id, location_id
        on conflict do nothing`)

/** Locks levels, in the same order as every transaction. */
export const lockLevels = (tx: Tx, units: readonly PlacedUnits[]) =>
  tx.run(sql`
    select from inventory_levels l
     where l.tenant_ref = ${tx.tenant}
       and (l.variant_id, l.location_id) in (select variant_id, location_id from ${rowsOf(units)})
     order by l.variant_id, l.location_id
       for no key update`)

interface Cause {
  order_id: string
  return_id: string
  actor: string
  reason: string
}

/** Puts units on hand at locked levels, each level once, and records them. */
export const putOnHand = (tx: Tx, units: readonly PlacedUnits[], cause: Cause) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    with level as (
      update inventory_levels l
         set on_hand = l.on_hand + u.quantity, updated_at = fd_now()
        from ${rowsOf(units)}
       where l.tenant_ref = ${tx.tenant} and l.variant_id = u.variant_id
         and l.location_id = u.location_id
      returning l.variant_id, l.location_id, l.on_hand, l.allocated, u.quantity
    )
    insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                     on_hand_after, allocated_after, order_id, return_id, actor,
                                     reason)
    select ${tx.tenant}, variant_id, location_id, 'received', quantity, on_hand, allocated,
           ${cause.order_id}::uuid, ${cause.return_id}::uuid, ${cause.actor}, ${cause.reason}
      from level
     order by variant_id, location_id
    returning id`,
  )
