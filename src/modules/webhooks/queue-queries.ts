import type { Db, GlobalDb } from '../../db/database.ts'
import { machineTime, type Sql, sql } from '../../db/sql.ts'
import { defineStoreRotation } from '../../platform/leases.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'

/** The deliveries that nobody sends yet. Claimed by `claimDue`, which knows endpoints. */
export const turns = defineStoreRotation({ table: sql`webhook_queue`, due: sql`due_at` })

/** Puts deliveries that are to be sent, rows named `d`, where lanes take them from. */
export const enqueue = (from: Sql) => sql`
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at,
                             attempt_count, ladder_from)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count,
         d.ladder_from
    from ${from}`

/**
 * What was left in lanes that are over, rows named `ended`, is due again for anybody. A lane that was
 * written by hand, or by the release before this one, may hold what is queued or has arrived: that must
 * not keep the rest from being put back.
 */
export const putBack = (db: Db) =>
  enqueue(sql`
    ended
    cross join unnest(ended.deliveries) as unsent (id)
     join webhook_deliveries as d on d.tenant_ref = ${db.tenant} and d.id = unsent.id
    where d.status = 'pending'
       on conflict do nothing`)

/** Stores of which a worker holds something and was not heard of any more. */
export const listLapsed = (worker: GlobalDb) =>
  worker.many(
    StoreWithWork,
    sql`
    select distinct tenant_ref from webhook_lanes where lease_until <= ${machineTime} limit 1000`,
  )

export const endLapsed = (db: Db) =>
  db.run(sql`
    with ended as (
      delete from webhook_lanes
       where tenant_ref = ${db.tenant} and lease_until <= ${machineTime}
      returning deliveries
    )
    ${putBack(db)}`)
