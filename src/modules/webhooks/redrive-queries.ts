import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { TEST_EVENT } from './events.ts'
import { enqueue } from './queue-queries.ts'

const afresh = sql`status = 'pending', next_retry_at = now(), ladder_from = attempt_count,
                   delivered_at = null, dead_lettered_at = null`

const listened = (db: Db) => sql`
  exists (select from webhook_subscriptions as s
           where s.tenant_ref = ${db.tenant} and s.id = d.subscription_id and s.active)
  and exists (select from webhook_events as e
               where e.tenant_ref = ${db.tenant} and e.id = d.event_id
                 and e.type <> ${TEST_EVENT} and e.erase_requested_at is null)`

/** Sends the deliveries that meet a condition up a new ladder. Answers how many. */
const redrive = (db: Db, which: Sql) =>
  db.run(sql`
    with redriven as (
      update webhook_deliveries as d set ${afresh}
       where d.tenant_ref = ${db.tenant} and ${which} and ${listened(db)}
      returning d.*
    )
    ${enqueue(sql`redriven as d`)}`)

export const redriveOne = (db: Db, id: string) =>
  redrive(db, sql`d.id = ${id} and d.status <> 'pending'`)

/** The dead letters of one endpoint, from a time on until before another. */
export const redriveAll = (
  db: Db,
  { subscription_id, from, to }: { subscription_id: string; from: string; to: string },
) =>
  redrive(
    db,
    sql`d.subscription_id = ${subscription_id} and d.status = 'dead_lettered'
        and d.created_at >= ${from} and d.created_at < ${to}`,
  )
