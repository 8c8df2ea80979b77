import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { enqueue } from './queue-queries.ts'
import { TEST_EVENT } from './schema.ts'

const restartLadder = sql`status = 'pending', next_retry_at = fd_now(), ladder_from = attempt_count,
                   delivered_at = null, dead_lettered_at = null, replayed_at = null`

const canReceive = (db: Db) => sql`
  exists (select from webhook_subscriptions as s
           where s.tenant_ref = ${db.tenant} and s.id = d.subscription_id and s.active)
  and exists (select from webhook_events as e
               where e.tenant_ref = ${db.tenant} and e.id = d.event_id
                 and e.type <> ${TEST_EVENT} and e.erase_requested_at is null)`

const Page = Type.Object({
  /** How many deliveries of the page are sent again. */
  redriven: Type.Integer(),
  /** When the last delivery of the page was created, to the microsecond, as text. */
  made_at: Type.String(),
  id: Type.String(),
})

/** A delivery's position among the others of its store. */
export type Position = Pick<Static<typeof Page>, 'made_at' | 'id'>

/**
 * Reads a page of deliveries, oldest first, and queues the chosen ones that are not pending and have an active
 * endpoint, with a new ladder of attempts. Returns null when the page is empty.
 */
const redrive = (db: Db, page: { where: Sql; chosen: Sql; limit: number }) =>
  db.maybe(
    Page,
    sql`
    with seen as materialized (
      select d.id, d.created_at, ${page.chosen} as chosen
        from webhook_deliveries as d
       where d.tenant_ref = ${db.tenant} and ${page.where}
       order by d.created_at, d.id
       limit ${page.limit}
    ), redriven as (
      update webhook_deliveries as d set ${restartLadder}
       where d.tenant_ref = ${db.tenant} and d.id = any(array(select id from seen where chosen))
         and d.status <> 'pending' and ${canReceive(db)}
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
  redrive(db, { where: sql`d.id = ${id}`, chosen: sql`true`, limit: 1 })

/**
 * Redrives the dead letters of one endpoint among the store's deliveries after a position and before a
 * time. A page is a range of the index of times, so its cost does not depend on the endpoint.
 */
export const redriveSome = (
  db: Db,
  { subscription_id, after, to }: { subscription_id: string; after: Position; to: string },
  limit: number,
) =>
  redrive(db, {
    where: sql`(d.created_at, d.id) > (${after.made_at}, ${after.id}) and d.created_at < ${to}`,
    chosen: sql`d.subscription_id = ${subscription_id} and d.status = 'dead_lettered'`,
    limit,
  })
