import type { Tx } from '../../db/database.ts'
import { microsecondsOf } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import { createRowTurns } from '../../platform/store-turns.ts'
import { UnpostedEntry } from './journal-schema.ts'

/** The stores with cost entries that no journal has yet, which take turns. */
export const unpostedTurns = createRowTurns({ table: sql`inventory_unposted` })

/**
 * Deletes the oldest entries from the queue and returns them. If two workers do this, the second waits for the
 * first, and finds that these rows are gone. Entries and movements are read one by one (`offset 0`): otherwise
 * PostgreSQL might hash all entries of the store. Why a queue and no position: decision 0063.
 */
export const takeUnposted = (tx: Tx, limit: number) =>
  tx.many(
    UnpostedEntry,
    sql`
    with taken as (
      delete from inventory_unposted
       where tenant_ref = ${tx.tenant}
         and entry_id = any (array(select entry_id
                                     from inventory_unposted
                                    where tenant_ref = ${tx.tenant}
                                    order by entry_id
                                    limit ${limit}))
      returning entry_id, happened_at
    )
    select e.id, e.kind, e.variant_id, e.cost_cents, e.value_cents, e.sold_cents, e.movement_id,
           e.order_id, e.purchase_order_id, m.fulfillment_id, m.return_id, m.count_id, t.happened_at,
           ${microsecondsOf(sql`t.happened_at`)} as at_us
      from taken t
     cross join lateral (
           select *
             from inventory_cost_entries
            where tenant_ref = ${tx.tenant} and id = t.entry_id
           offset 0) as e
      left join lateral (
           select fulfillment_id, return_id, count_id
             from inventory_movements
            where tenant_ref = ${tx.tenant} and id = e.movement_id
           offset 0) as m on true
     order by t.happened_at, e.seq`,
  )
