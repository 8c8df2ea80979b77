import { Type } from 'typebox'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import { endpointFacts, LANE_BYTES, leaseEnd, lockOf } from './dispatch-queries.ts'
import { enqueue, putBack } from './queue-queries.ts'
import { type Attempt, DueDelivery, type LaneLease } from './schema.ts'

export type FinishedAttempt = Omit<Attempt, 'attempt'>

export interface Delivered {
  due: { id: string }
  attempt: FinishedAttempt
}

/** The lane's own row, unless another worker has taken its deliveries over. */
const held = (db: Db, { lease_token, lane }: LaneLease) => sql`
  tenant_ref = ${db.tenant} and lease_token = ${lease_token} and lane = ${lane}`

const column = <T>(delivered: readonly Delivered[], pick: (each: Delivered) => T) =>
  delivered.map(pick)

/**
 * Successes of one endpoint, which end its row of failures; an endpoint without any is not written
 * to. Behind a `held` that says whether they may be written.
 */
const settled = (db: Db, lane: LaneLease, delivered: readonly Delivered[]) => sql`
  sent as (
    select *
      from unnest(${column(delivered, ({ due }) => due.id)}::uuid[],
                  ${column(delivered, ({ attempt }) => attempt.at)}::timestamptz[],
                  ${column(delivered, ({ attempt }) => attempt.status_code)}::int[],
                  ${column(delivered, ({ attempt }) => attempt.latency_ms)}::int[])
           as s (id, at, status_code, latency_ms)
  ), settled as (
    update webhook_deliveries as d
       set attempt_count = d.attempt_count + 1, last_status_code = sent.status_code,
           last_attempt_error = null, status = 'delivered', delivered_at = fd_now(),
           next_retry_at = null
      from sent
     where d.tenant_ref = ${db.tenant} and d.id = sent.id and exists (select from held)
    returning d.id, d.attempt_count, sent.at, sent.status_code, sent.latency_ms
  ), attempted as (
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms)
    select ${db.tenant}, id, attempt_count, at, status_code, latency_ms from settled
  ), calmed as (
    update webhook_subscriptions as s
       set consecutive_failures = 0
     where s.tenant_ref = ${db.tenant} and s.id = ${lane.subscription_id}
       and s.consecutive_failures > 0 and exists (select from held)
  )`

/** Writes down what has arrived so far. The lane goes on with the rest, for as long again. */
export async function settleDelivered(
  db: Db,
  lane: LaneLease,
  delivered: readonly Delivered[],
  rest: readonly { id: string }[],
): Promise<void> {
  const kept = await db.run(sql`
    with held as (
      update webhook_lanes
         set lease_until = ${leaseEnd}, deliveries = ${rest.map(({ id }) => id)}
       where ${held(db, lane)}
      returning lane
    ), ${settled(db, lane, delivered)}
    select from held`)
  if (kept === 0) throw lost(lane)
}

/**
 * Writes down what arrived last, and takes up to `take` of the endpoint's next deliveries in the same
 * breath for the lane that has just come free: nobody has to count. Without any, the lane is over.
 *
 * PostgreSQL runs the parts in an order of its own. All ask `held`, so that it is locked before any of
 * them changes it.
 */
export const settleAndTake = (
  db: TenantDb,
  lane: LaneLease,
  delivered: readonly Delivered[],
  take: number,
) =>
  (take === 0 ? db : db.after(lockEndpoint(db, lane))).many(
    DueDelivery,
    sql`
    with held as (
      select from webhook_lanes where ${held(db, lane)} for update
    ), ${settled(db, lane, delivered)}, waiting as (
      select delivery_id as id, event_id, due_at, attempt_count, ladder_from
        from webhook_queue
       where tenant_ref = ${db.tenant} and subscription_id = ${lane.subscription_id}
         and due_at <= fd_now() and exists (select from held)
       order by due_at
       limit ${take}
    ), measured as (
      select waiting.*, e.type, e.payload, row_number() over (order by due_at, waiting.id) as place,
             sum(octet_length(e.payload)) over (order by due_at, waiting.id)
               - octet_length(e.payload) as before
        from waiting
        join webhook_events as e on e.tenant_ref = ${db.tenant} and e.id = waiting.event_id
    ), due as (
      select * from measured where before < ${LANE_BYTES}
    ), taken as (
      delete from webhook_queue as q
       using due
       where q.tenant_ref = ${db.tenant} and q.delivery_id = due.id
    ), kept as (
      update webhook_lanes
         set lease_until = ${leaseEnd}, deliveries = (select array_agg(id) from due)
       where ${held(db, lane)} and exists (select from held) and exists (select from due)
    ), ended as (
      delete from webhook_lanes
       where ${held(db, lane)} and exists (select from held) and not exists (select from due)
    ), endpoint as materialized (
      select ${endpointFacts}
        from webhook_subscriptions as s
       where s.tenant_ref = ${db.tenant} and s.id = ${lane.subscription_id}
    )
    select due.id, due.event_id, due.type as event_type, due.attempt_count, due.ladder_from,
           convert_from(due.payload, 'UTF8') as payload, endpoint.*
      from due
      left join endpoint on due.place = 1
     order by due.place`,
  )

/** Lanes of one endpoint take one after another, and none while a claim counts. */
const lockEndpoint = ({ tenant }: Db, { subscription_id }: LaneLease) => sql`
  select pg_advisory_xact_lock_shared(${lockOf(tenant)}),
         pg_advisory_xact_lock(${lockOf(`${tenant}/${subscription_id}`)})`

/** Lets go of what was not sent: it is due at once, for anybody. */
export const giveBack = (db: Db, lane: LaneLease) =>
  db.run(sql`
    with ended as (
      delete from webhook_lanes where ${held(db, lane)} returning deliveries
    )
    ${putBack(db)}`)

/** `retrySeconds` is null after the last attempt. Answers with the endpoint that this one paused. */
export const settleFailed = (
  tx: Tx,
  lane: LaneLease,
  { due, attempt }: Delivered,
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
    with ended as (
      delete from webhook_lanes where ${held(tx, lane)}
      returning array_remove(deliveries, ${due.id}) as deliveries
    ), put_back as (
      ${putBack(tx)}
    ), settled as (
      update webhook_deliveries
         set attempt_count = attempt_count + 1, last_status_code = ${attempt.status_code},
             last_attempt_error = ${attempt.error}, ${retryOrBury(retrySeconds)}
       where tenant_ref = ${tx.tenant} and id = ${due.id} and exists (select from ended)
      returning *
    ), queued as (
      ${enqueue(sql`settled as d where d.next_retry_at is not null`)}
    ), attempted as (
      insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms,
                                    error)
      select ${tx.tenant}, id, attempt_count, ${attempt.at}, ${attempt.status_code},
             ${attempt.latency_ms}, ${attempt.error}
        from settled
    )
    update webhook_subscriptions as s
       set consecutive_failures = s.consecutive_failures + 1,
           active = s.active and s.consecutive_failures + 1 < ${pauseAfter},
           auto_paused_at = case when s.active and s.consecutive_failures + 1 >= ${pauseAfter}
                                 then fd_now() else s.auto_paused_at end
      from settled
     where s.tenant_ref = ${tx.tenant} and s.id = settled.subscription_id and s.deleted_at is null
    returning s.id, s.url, s.consecutive_failures,
              coalesce(s.auto_paused_at = fd_now(), false) as paused`,
  )

const retryOrBury = (retrySeconds: number | null): Sql =>
  retrySeconds === null
    ? sql`status = 'dead_lettered', dead_lettered_at = fd_now(), next_retry_at = null`
    : sql`next_retry_at = fd_now() + make_interval(secs => ${retrySeconds})`

/** Nobody is there to send them to: no attempt was made, and none is counted. The lane is over. */
export async function deadLetter(db: Db, lane: LaneLease, error: string): Promise<void> {
  const buried = await db.run(sql`
    with ended as (
      delete from webhook_lanes where ${held(db, lane)} returning deliveries
    )
    update webhook_deliveries as d
       set status = 'dead_lettered', dead_lettered_at = fd_now(), next_retry_at = null,
           last_attempt_error = ${error}
      from ended, unnest(ended.deliveries) as unsent (id)
     where d.tenant_ref = ${db.tenant} and d.id = unsent.id`)
  if (buried === 0) throw lost(lane)
}

const lost = ({ subscription_id, lease_token }: LaneLease) =>
  new LeaseLostError(`deliveries to ${subscription_id}`, lease_token)
