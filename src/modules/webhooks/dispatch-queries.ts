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

const ClaimedInLane = Type.Object({ ...Claimed.properties, lane: Type.Integer() })

const leased = sql`lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
                   lease_token = gen_random_uuid()`

const claimed = sql`
  q.tenant_ref, q.id, q.lease_token, q.subscription_id, q.event_id, q.event_type, q.endpoint_url,
  q.attempt_count, q.ladder_from, convert_from(e.payload, 'UTF8') as payload, s.active,
  s.consecutive_failures > 0 as troubled, s.deleted_at is not null as deleted, s.secret_sealed,
  case when s.previous_until > now() then s.previous_sealed end as previous_sealed`

/** What is on its way stands among the oldest that are due: so far is looked for it. */
const OLDEST = 100

/** So many at most are sent one after another and then written down together. */
export const LANE_LENGTH = 32

/** And so many bytes, not counting the last: what waits in all lanes has room in memory. */
export const LANE_BYTES = 262_144

export interface ClaimOptions {
  /** Lanes: what is sent at the same time. */
  limit: number
  /** So many at a time are on their way to one endpoint, from all workers together. */
  perEndpoint: number
  /** Leaves out endpoints that failed the last time. */
  calmOnly: boolean
}

/**
 * Takes due deliveries of one store, some of each endpoint: one for each lane where the last attempt
 * failed, a row of them where all is well. Of any length at first, so that lanes that begin together do
 * not all come to be written down together. Claims of one store follow one another, so that two workers
 * never count the same room.
 */
export const claimDue = (db: TenantDb, { limit, perEndpoint, calmOnly }: ClaimOptions) =>
  db.transaction('webhooks: claim', async (tx) => {
    const [, rows] = await Promise.all([
      tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/deliveries`}, 0))`),
      tx.many(
        ClaimedInLane,
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
                                         limit ${OLDEST}) as oldest)) as room,
                 case when s.consecutive_failures = 0
                      then 1 + floor(random() * ${LANE_LENGTH})::int else 1 end as length,
                 random() as turn
            from webhook_subscriptions as s
           where s.tenant_ref = ${tx.tenant}
             and (s.consecutive_failures = 0 or not ${calmOnly}::boolean)
        ), waiting as (
          select first.id, bytes, turn, room,
                 row_number() over (partition by endpoints.id) as place
            from endpoints,
                 lateral (select d.id, octet_length(e.payload) as bytes
                            from webhook_deliveries as d
                            join webhook_events as e
                              on e.tenant_ref = d.tenant_ref and e.id = d.event_id
                           where d.tenant_ref = ${tx.tenant} and d.subscription_id = endpoints.id
                             and d.next_retry_at <= now()
                             and (d.lease_until is null or d.lease_until <= now())
                             and e.payload is not null
                           order by d.next_retry_at
                           limit endpoints.room * endpoints.length
                             for update of d skip locked) as first
        ), laned as (
          select id, bytes, place, dense_rank() over (order by turn, place % room) as lane
            from waiting
        ), due as (
          select id, lane, sum(bytes) over (partition by lane order by place) - bytes as before
            from laned
        )
        update webhook_deliveries as q
           set ${leased}
          from due, webhook_events as e, webhook_subscriptions as s
         where q.tenant_ref = ${tx.tenant} and q.id = due.id and due.lane <= ${limit}
           and due.before < ${LANE_BYTES}
           and e.tenant_ref = ${tx.tenant} and e.id = q.event_id
           and s.tenant_ref = ${tx.tenant} and s.id = q.subscription_id
        returning ${claimed}, due.lane::int`,
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

export interface Delivered {
  due: Lease
  attempt: FinishedAttempt
}

const column = <T>(delivered: readonly Delivered[], pick: (each: Delivered) => T) =>
  delivered.map(pick)

/**
 * Successes of one endpoint, which end its row of failures; an endpoint without any is not written
 * to. What another worker has taken over is left alone.
 *
 * The worker takes up to `take` of the endpoint's next deliveries in the same breath, for the lane
 * that has just come free: nobody has to count.
 */
export const settleDelivered = (
  db: Db,
  subscriptionId: string,
  delivered: readonly Delivered[],
  take: number,
) =>
  db.many(
    Claimed,
    sql`
    with sent as (
      select *
        from unnest(${column(delivered, ({ due }) => due.id)}::uuid[],
                    ${column(delivered, ({ due }) => due.lease_token)}::uuid[],
                    ${column(delivered, ({ attempt }) => attempt.at)}::timestamptz[],
                    ${column(delivered, ({ attempt }) => attempt.status_code)}::int[],
                    ${column(delivered, ({ attempt }) => attempt.latency_ms)}::int[])
             as s (id, lease_token, at, status_code, latency_ms)
    ), settled as (
      update webhook_deliveries as d
         set lease_until = null, lease_token = null, attempt_count = d.attempt_count + 1,
             last_status_code = sent.status_code, last_attempt_error = null,
             status = 'delivered', delivered_at = now(), next_retry_at = null
        from sent
       where d.tenant_ref = ${db.tenant} and d.id = sent.id and d.lease_token = sent.lease_token
      returning d.id, d.attempt_count, sent.at, sent.status_code, sent.latency_ms
    ), attempted as (
      insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms)
      select ${db.tenant}, id, attempt_count, at, status_code, latency_ms from settled
    ), calmed as (
      update webhook_subscriptions as s
         set consecutive_failures = 0
       where s.tenant_ref = ${db.tenant} and s.id = ${subscriptionId}
         and s.consecutive_failures > 0 and exists (select from settled)
    ), waiting as (
      select d.id, d.next_retry_at, octet_length(e.payload) as bytes
        from webhook_deliveries as d
        join webhook_events as e on e.tenant_ref = d.tenant_ref and e.id = d.event_id
       where d.tenant_ref = ${db.tenant} and d.subscription_id = ${subscriptionId}
         and d.next_retry_at <= now() and (d.lease_until is null or d.lease_until <= now())
         and e.payload is not null and exists (select from settled)
       order by d.next_retry_at
       limit ${take}
         for update of d skip locked
    ), due as (
      select id, sum(bytes) over (order by next_retry_at, id) - bytes as before from waiting
    )
    update webhook_deliveries as q
       set ${leased}
      from due, webhook_events as e, webhook_subscriptions as s
     where q.tenant_ref = ${db.tenant} and q.id = due.id and due.before < ${LANE_BYTES}
       and e.tenant_ref = ${db.tenant} and e.id = q.event_id
       and s.tenant_ref = ${db.tenant} and s.id = q.subscription_id
    returning ${claimed}`,
  )

/** Lets go of what was not sent: it is due at once, for anybody. */
export const giveBack = (db: Db, leases: readonly Lease[]) =>
  db.run(sql`
    update webhook_deliveries as d
       set lease_until = null, lease_token = null
      from unnest(${leases.map(({ id }) => id)}::uuid[],
                  ${leases.map(({ lease_token }) => lease_token)}::uuid[]) as held (id, lease_token)
     where d.tenant_ref = ${db.tenant} and d.id = held.id and d.lease_token = held.lease_token`)

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
