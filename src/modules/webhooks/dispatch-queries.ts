import { Type } from 'typebox'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { defineQueue, LEASE_SECONDS, Lease } from '../../platform/leases.ts'
import { TEST_EVENT } from './events.ts'
import { type Attempt, DueDelivery } from './schema.ts'

/** The deliveries that are due. Claimed by `claimDue`, which knows endpoints. */
export const queue = defineQueue({
  table: sql`webhook_deliveries`,
  due: sql`next_retry_at`,
  columns: sql`subscription_id`,
  shape: Type.Object({ subscription_id: Id }),
})

const Claimed = Type.Object({ ...DueDelivery.properties, ...Lease.properties })

const leased = sql`lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
                   lease_token = gen_random_uuid()`

const claimed = sql`
  q.tenant_ref, q.id, q.lease_token, q.subscription_id, q.event_id, q.event_type, q.endpoint_url,
  q.attempt_count, q.ladder_from, e.payload, s.active, s.consecutive_failures > 0 as troubled,
  s.deleted_at is not null as deleted, s.secret_sealed,
  case when s.previous_until > now() then s.previous_sealed end as previous_sealed`

/** What is on its way stands among the oldest that are due: so far is looked for it. */
const OLDEST = 100

export interface ClaimOptions {
  limit: number
  /** So many at a time are on their way to one endpoint, from all workers together. */
  perEndpoint: number
  /** Leaves out endpoints that failed the last time. */
  calmOnly: boolean
}

/**
 * Takes due deliveries of one store, some of each endpoint. Claims of one store follow one another,
 * so that two workers never count the same room.
 */
export const claimDue = (db: TenantDb, { limit, perEndpoint, calmOnly }: ClaimOptions) =>
  db.transaction('webhooks: claim', async (tx) => {
    const [, rows] = await Promise.all([
      tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/deliveries`}, 0))`),
      tx.many(
        Claimed,
        sql`
        with endpoints as materialized (
          select s.id,
                 greatest(0, ${perEndpoint}::int
                             - (select count(*) filter (where lease_until > now())
                                  from (select held.lease_until
                                          from webhook_deliveries as held
                                         where held.tenant_ref = ${tx.tenant}
                                           and held.subscription_id = s.id
                                           and held.next_retry_at <= now()
                                         order by held.next_retry_at
                                         limit ${OLDEST}) as oldest)) as room
            from webhook_subscriptions as s
           where s.tenant_ref = ${tx.tenant}
             and (s.consecutive_failures = 0 or not ${calmOnly}::boolean)
           order by random()
        ), due as (
          select waiting.id
            from endpoints,
                 lateral (select d.id
                            from webhook_deliveries as d
                            join webhook_events as e
                              on e.tenant_ref = d.tenant_ref and e.id = d.event_id
                           where d.tenant_ref = ${tx.tenant} and d.subscription_id = endpoints.id
                             and d.next_retry_at <= now()
                             and (d.lease_until is null or d.lease_until <= now())
                             and e.payload is not null
                           order by d.next_retry_at
                           limit endpoints.room
                             for update of d skip locked) as waiting
           limit ${limit}
        )
        update webhook_deliveries as q
           set ${leased}
          from due, webhook_events as e, webhook_subscriptions as s
         where q.tenant_ref = ${tx.tenant} and q.id = due.id
           and e.tenant_ref = ${tx.tenant} and e.id = q.event_id
           and s.tenant_ref = ${tx.tenant} and s.id = q.subscription_id
        returning ${claimed}`,
      ),
    ])
    return rows
  })

export type FinishedAttempt = Omit<Attempt, 'attempt'>

/** Ends the lease and writes the attempt down. Nothing is touched once the lease is lost. */
const settled = (db: Db, lease: Lease, attempt: FinishedAttempt, outcome: Sql) => sql`
  settled as (
    update webhook_deliveries
       set lease_until = null, lease_token = null, attempt_count = attempt_count + 1,
           last_status_code = ${attempt.status_code}, last_attempt_error = ${attempt.error},
           ${outcome}
     where tenant_ref = ${db.tenant} and id = ${lease.id} and lease_token = ${lease.lease_token}
    returning id, subscription_id, attempt_count
  ), attempted as (
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms,
                                  error)
    select ${db.tenant}, id, attempt_count, ${attempt.at}, ${attempt.status_code},
           ${attempt.latency_ms}, ${attempt.error}
      from settled
  )`

/**
 * A success, which ends the row of failures; an endpoint without any is not written to.
 *
 * With `goOn` the worker takes the endpoint's next delivery in the same breath. One for one, so that
 * as many are on their way to it as before, and nobody has to count.
 */
export const settleDelivered = (
  db: Db,
  due: Lease & Pick<DueDelivery, 'subscription_id'>,
  attempt: FinishedAttempt,
  goOn: boolean,
) =>
  db.maybe(
    Claimed,
    sql`
    with ${settled(
      db,
      due,
      attempt,
      sql`status = 'delivered', delivered_at = now(), next_retry_at = null`,
    )}, calmed as (
      update webhook_subscriptions as s
         set consecutive_failures = 0
        from settled
       where s.tenant_ref = ${db.tenant} and s.id = settled.subscription_id
         and s.consecutive_failures > 0
    ), due as (
      select d.id
        from webhook_deliveries as d
        join webhook_events as e on e.tenant_ref = d.tenant_ref and e.id = d.event_id
       where d.tenant_ref = ${db.tenant} and d.subscription_id = ${due.subscription_id}
         and d.id <> ${due.id} and d.next_retry_at <= now()
         and (d.lease_until is null or d.lease_until <= now())
         and e.payload is not null and ${goOn}::boolean and exists (select from settled)
       order by d.next_retry_at
       limit 1
         for update of d skip locked
    )
    update webhook_deliveries as q
       set ${leased}
      from due, webhook_events as e, webhook_subscriptions as s
     where q.tenant_ref = ${db.tenant} and q.id = due.id
       and e.tenant_ref = ${db.tenant} and e.id = q.event_id
       and s.tenant_ref = ${db.tenant} and s.id = q.subscription_id
    returning ${claimed}`,
  )

/** `retrySeconds` is null after the last attempt. Answers with the endpoint that this one paused. */
export const settleFailed = (
  tx: Tx,
  lease: Lease,
  attempt: FinishedAttempt,
  { retrySeconds, pauseAfter }: { retrySeconds: number | null; pauseAfter: number },
) =>
  tx.maybe(
    Type.Object({
      id: Id,
      url: Type.String(),
      consecutive_failures: Type.Integer(),
      paused: Type.Boolean(),
    }),
    sql`
    with ${settled(
      tx,
      lease,
      attempt,
      retrySeconds === null
        ? sql`status = 'dead_lettered', dead_lettered_at = now(), next_retry_at = null`
        : sql`next_retry_at = now() + make_interval(secs => ${retrySeconds})`,
    )}
    update webhook_subscriptions as s
       set consecutive_failures = s.consecutive_failures + 1,
           active = s.active and s.consecutive_failures + 1 < ${pauseAfter},
           auto_paused_at = case when s.active and s.consecutive_failures + 1 >= ${pauseAfter}
                                 then now() else s.auto_paused_at end
      from settled
     where s.tenant_ref = ${tx.tenant} and s.id = settled.subscription_id and s.deleted_at is null
    returning s.id, s.url, s.consecutive_failures, coalesce(s.auto_paused_at = now(), false) as paused`,
  )

/** Nobody is there to send it to: no attempt was made, and none is counted. */
export const deadLetter = (db: Db, lease: Lease, error: string) =>
  queue.settle(
    db,
    lease,
    sql`status = 'dead_lettered', dead_lettered_at = now(), next_retry_at = null,
        last_attempt_error = ${error}`,
  )

const afresh = sql`status = 'pending', next_retry_at = now(), ladder_from = attempt_count,
                   delivered_at = null, dead_lettered_at = null`

const listened = (db: Db) => sql`
  exists (select from webhook_subscriptions as s
           where s.tenant_ref = ${db.tenant} and s.id = d.subscription_id and s.active)
  and exists (select from webhook_events as e
               where e.tenant_ref = ${db.tenant} and e.id = d.event_id
                 and e.type <> ${TEST_EVENT} and e.erase_requested_at is null)`

export const redriveOne = (db: Db, id: string) =>
  db.run(sql`
    update webhook_deliveries as d set ${afresh}
     where d.tenant_ref = ${db.tenant} and d.id = ${id} and d.status <> 'pending'
       and ${listened(db)}`)

/** The dead letters of one endpoint, from a time on until before another. */
export const redriveAll = (
  db: Db,
  { subscription_id, from, to }: { subscription_id: string; from: string; to: string },
) =>
  db.run(sql`
    update webhook_deliveries as d set ${afresh}
     where d.tenant_ref = ${db.tenant} and d.subscription_id = ${subscription_id}
       and d.status = 'dead_lettered' and d.created_at >= ${from} and d.created_at < ${to}
       and ${listened(db)}`)
