import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import type { ReturnedStock, StockLine } from './schema.ts'

/** Those of the variants whose stock is counted. */
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

/** Creates the levels of variants at a location that has none of them yet. */
export const ensureLevels = (tx: Tx, location_id: string, variant_ids: readonly string[]) =>
  tx.run(sql`
    insert into inventory_levels (tenant_ref, variant_id, location_id)
    select ${tx.tenant}, variant_id, ${location_id}
      from unnest(${variant_ids}::uuid[]) as v (variant_id)
     order by variant_id
        on conflict do nothing`)

/** Locks the levels of variants at a location, sorted as everywhere. */
export const lockLevels = (tx: Tx, location_id: string, variant_ids: readonly string[]) =>
  tx.run(sql`
    select from inventory_levels
     where tenant_ref = ${tx.tenant} and variant_id = any (${variant_ids}::uuid[])
       and location_id = ${location_id}
     order by variant_id, location_id
       for no key update`)

/** Puts units on hand at locked levels, each variant once, and records them. */
export const putOnHand = (
  tx: Tx,
  { order_id, return_id, location_id }: Omit<ReturnedStock, 'lines'>,
  lines: readonly StockLine[],
  { actor, reason }: { actor: string; reason: string },
) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    with line as (
      select * from unnest(${lines.map(({ variant_id }) => variant_id)}::uuid[],
                           ${lines.map(({ quantity }) => quantity)}::bigint[])
                    as l (variant_id, quantity)
    ),
    level as (
      update inventory_levels l
         set on_hand = l.on_hand + line.quantity, updated_at = fd_now()
        from line
       where l.tenant_ref = ${tx.tenant} and l.variant_id = line.variant_id
         and l.location_id = ${location_id}
      returning l.variant_id, l.on_hand, l.allocated
    )
    insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                     on_hand_after, allocated_after, order_id, return_id, actor,
                                     reason)
    select ${tx.tenant}, variant_id, ${location_id}, 'received', line.quantity, level.on_hand,
           level.allocated, ${order_id}, ${return_id}, ${actor}, ${reason}
      from level
      join line using (variant_id)
     order by variant_id
    returning id`,
  )
