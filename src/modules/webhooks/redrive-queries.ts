import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { enqueue } from './queue-queries.ts'
import { TEST_EVENT } from './schema.ts'

const afresh = sql`status = 'pending', next_retry_at = fd_now(), ladder_from = attempt_count,
                   delivered_at = null, dead_lettered_at = null`

const listened = (db: Db) => sql`
  exists (select from webhook_subscriptions as s
           where s.tenant_ref = ${db.tenant} and s.id = d.subscription_id and s.active)
  and exists (select from webhook_events as e
               where e.tenant_ref = ${db.tenant} and e.id = d.event_id
                 and e.type <> ${TEST_EVENT} and e.erase_requested_at is null)`

const Page = Type.Object({
  /** How many of those that were looked at go out again. */
  redriven: Type.Integer(),
  /** The last that was looked at, by when it was made: to the microsecond, as text. */
  made_at: Type.String(),
  id: Type.String(),
})

/** Where a delivery stands among the others of its store. */
export type Place = Pick<Static<typeof Page>, 'made_at' | 'id'>

/**
 * Looks at deliveries, the oldest first, and sends those that are wanted and listened to up a new
 * ladder, unless they are on one. Null: there was none to look at.
 */
const redrive = (db: Db, look: { at: Sql; for: Sql; limit: number }) =>
  db.maybe(
    Page,
    sql`
    with seen as materialized (
      select d.id, d.created_at, ${look.for} as wanted
        from webhook_deliveries as d
       where d.tenant_ref = ${db.tenant} and ${look.at}
       order by d.created_at, d.id
       limit ${look.limit}
    ), redriven as (
      update webhook_deliveries as d set ${afresh}
       where d.tenant_ref = ${db.tenant} and d.id = any(array(select id from seen where wanted))
         and d.status <> 'pending' and ${listened(db)}
      returning d.*
    ), queued as (
      ${enqueue(sql`redriven as d`)}
    )
    select (select count(*) from redriven)::integer as redriven, created_at::text as made_at, id
      from seen
     order by created_at desc, id desc
     limit 1`,
  )

export const redriveOne = (db: Db, id: string) =>
  redrive(db, { at: sql`d.id = ${id}`, for: sql`true`, limit: 1 })

/**
 * The dead letters of one endpoint among the deliveries of its store that stand behind a place and were
 * made before a time. Each page is a piece of the index of times, whatever is asked for.
 */
export const redriveSome = (
  db: Db,
  { subscription_id, after, to }: { subscription_id: string; after: Place; to: string },
  limit: number,
) =>
  redrive(db, {
    at: sql`(d.created_at, d.id) > (${after.made_at}, ${after.id}) and d.created_at < ${to}`,
    for: sql`d.subscription_id = ${subscription_id} and d.status = 'dead_lettered'`,
    limit,
  })
