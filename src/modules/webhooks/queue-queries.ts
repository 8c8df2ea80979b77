import { Type } from 'typebox'
import type { Db, DueLists } from '../../db/database.ts'
import { machineTime, type Sql, sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { defineStoreRotation } from '../../platform/leases.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'

/** The turns of the stores with deliveries that are in no lane. `claimDue` claims them, since it knows endpoints. */
export const turns = defineStoreRotation({ table: sql`webhook_queue`, due: sql`due_at` })

/** Inserts deliveries, rows named `d`, into the queue from which lanes claim them. */
export const enqueue = (from: Sql) => sql`
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at,
                             attempt_count, ladder_from, created_at, is_replay)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count,
         d.ladder_from, d.created_at, d.replayed_at is not null
    from ${from}`

/**
 * Whether replays of an endpoint are due. While they are, it has one lane: two side by side would send
 * them out of their order (decision 0048).
 */
export const isReplaying = ({ tenant }: Pick<Db, 'tenant'>, subscriptionId: Sql | string) => sql`
  exists (select
            from webhook_queue as replayed
           where replayed.tenant_ref = ${tenant} and replayed.subscription_id = ${subscriptionId}
             and replayed.is_replay and replayed.due_at <= fd_now())`

/**
 * Queues the unsent deliveries of lanes that have ended, rows named `ended`. A lane that was written by hand, or by
 * the previous release, may contain deliveries that are queued or delivered already: these are left out, and must not
 * prevent the rest.
 */
export const requeueUnsent = (db: Db) =>
  enqueue(sql`
    ended
    cross join unnest(ended.deliveries) as unsent (id)
     join webhook_deliveries as d on d.tenant_ref = ${db.tenant} and d.id = unsent.id
    where d.status = 'pending'
       on conflict do nothing`)

/** Stores with lanes whose lease has expired, because their worker stopped. */
export const listStoresWithExpiredLanes = (worker: DueLists) =>
  worker.many(
    StoreWithWork,
    sql`
    select distinct tenant_ref from webhook_lanes where lease_until <= ${machineTime} limit 1000`,
  )

/** A query of the time at which the next delivery is due: now, while one is being sent. */
export const nextDelivery = (db: Db) => sql`
  select least((select min(due_at) from webhook_queue where tenant_ref = ${db.tenant}),
               case when exists (select from webhook_lanes where tenant_ref = ${db.tenant})
                    then fd_now() end)`

const Result = Type.Object({
  id: Id,
  attempt_count: Type.Integer(),
  status: Type.Enum(['pending', 'delivered', 'dead_lettered']),
})

/** Reads the states of deliveries after they were attempted. */
export const listResults = (db: Db, ids: readonly string[]) =>
  db.many(
    Result,
    sql`
    select id, attempt_count, status
      from webhook_deliveries
     where tenant_ref = ${db.tenant} and id = any(${ids}::uuid[])`,
  )

export const endExpiredLanes = (db: Db) =>
  db.run(sql`
    with ended as (
      delete from webhook_lanes
       where tenant_ref = ${db.tenant} and lease_until <= ${machineTime}
      returning deliveries
    )
    ${requeueUnsent(db)}`)
