import { Type } from 'typebox'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import { endpointFacts, LANE_BYTES, leaseEnd, lockOf } from './dispatch-queries.ts'
import { enqueue, isReplaying, requeueUnsent } from './queue-queries.ts'
import { type Attempt, DueDelivery, type LaneLease } from './schema.ts'

export type FinishedAttempt = Omit<Attempt, 'attempt'>

export interface Delivered {
  due: { id: string }
  attempt: FinishedAttempt
}

/** Matches the row of a lane, unless another worker has taken its deliveries over. */
const held = (db: Db, { lease_token, lane }: LaneLease) => sql`
  tenant_ref = ${db.tenant} and lease_token = ${lease_token} and lane = ${lane}`

/** Whether another lane sends to the same endpoint. */
const hasOtherLane = (db: Db, { subscription_id, lease_token, lane }: LaneLease) => sql`
  exists (select
            from webhook_lanes as other
           where other.tenant_ref = ${db.tenant} and other.subscription_id = ${subscription_id}
             and (other.lease_token, other.lane) <> (${lease_token}, ${lane}))`

const column = <T>(delivered: readonly Delivered[], pick: (each: Delivered) => T) =>
  delivered.map(pick)

/**
 * Records successes of one endpoint and sets its consecutive failures to 0; an endpoint without failures is not
 * written to. The statement begins with `held`, which has a row while the lease is ours. The ids are repeated as a
 * list, so that PostgreSQL opens only the months of these deliveries.
 */
const recorded = (db: Db, lane: LaneLease, delivered: readonly Delivered[]) => sql`
  sent as (
    select *
      from unnest(${column(delivered, ({ due }) => due.id)}::uuid[],
                  ${column(delivered, ({ attempt }) => attempt.at)}::timestamptz[],
                  ${column(delivered, ({ attempt }) => attempt.status_code)}::int[],
                  ${column(delivered, ({ attempt }) => attempt.latency_ms)}::int[])
           as s (id, at, status_code, latency_ms)
  ), recorded as (
    update webhook_deliveries as d
       set attempt_count = d.attempt_count + 1, last_status_code = sent.status_code,
           last_attempt_error = null, status = 'delivered', delivered_at = fd_now(),
           next_retry_at = null
      from sent
     where d.tenant_ref = ${db.tenant} and d.id = sent.id and exists (select from held)
       and d.id = any (${column(delivered, ({ due }) => due.id)}::uuid[])
    returning d.id, d.attempt_count, sent.at, sent.status_code, sent.latency_ms
  ), attempted as (
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms)
    select ${db.tenant}, id, attempt_count, at, status_code, latency_ms from recorded
  ), reset_failures as (
    update webhook_subscriptions as s
       set consecutive_failures = 0
     where s.tenant_ref = ${db.tenant} and s.id = ${lane.subscription_id}
       and s.consecutive_failures > 0 and exists (select from held)
  )`

/** Records the deliveries sent so far, and renews the lease of the lane for the rest. */
export async function recordDelivered(
  db: Db,
  lane: LaneLease,
  delivered: readonly Delivered[],
  rest: readonly { id: string }[],
): Promise<void> {
  const renewed = await db.run(sql`
    with held as (
      update webhook_lanes
         set lease_until = ${leaseEnd}, deliveries = ${rest.map(({ id }) => id)}
       where ${held(db, lane)}
      returning lane
    ), ${recorded(db, lane, delivered)}
    select from held`)
  if (renewed === 0) throw lost(lane)
}

/**
 * Records the last deliveries of a lane, and claims up to `take` of the endpoint's next ones for it. It is one
 * statement, so the endpoint's lanes need not be counted again. The lane ends if none is due.
 *
 * PostgreSQL chooses the order of the parts. Each of them reads `held`, so that the lane's row is locked before any
 * part changes it.
 */
export const recordAndTakeNext = (
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
    ), ${recorded(db, lane, delivered)}, waiting as (
      select delivery_id as id, event_id, due_at, attempt_count, ladder_from, is_replay
        from webhook_queue
       where tenant_ref = ${db.tenant} and subscription_id = ${lane.subscription_id}
         and due_at <= fd_now() and exists (select from held)
         and not (${isReplaying(db, lane.subscription_id)} and ${hasOtherLane(db, lane)})
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
    ), renewed as (
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
           convert_from(due.payload, 'UTF8') as payload, due.is_replay as replay, endpoint.*
      from due
      left join endpoint on due.place = 1
     order by due.place`,
  )

/** Locks an endpoint. The lock serialises the lanes of the endpoint, and excludes a claim, which counts them. */
const lockEndpoint = ({ tenant }: Db, { subscription_id }: LaneLease) => sql`
  select pg_advisory_xact_lock_shared(${lockOf(tenant)}),
         pg_advisory_xact_lock(${lockOf(`${tenant}/${subscription_id}`)})`

/** Ends a lane and queues its unsent deliveries, which are due at once for any worker. */
export const releaseLane = (db: Db, lane: LaneLease) =>
  db.run(sql`
    with ended as (
      delete from webhook_lanes where ${held(db, lane)} returning deliveries
    )
    ${requeueUnsent(db)}`)

/**
 * Records a failure, ends the lane and counts the failure of the endpoint, which may pause it.
 * `retrySeconds` is null after the last attempt.
 */
export const recordFailed = (
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
    ), requeued as (
      ${requeueUnsent(tx)}
    ), recorded as (
      update webhook_deliveries
         set attempt_count = attempt_count + 1, last_status_code = ${attempt.status_code},
             last_attempt_error = ${attempt.error}, ${retryOrDeadLetter(retrySeconds)}
       where tenant_ref = ${tx.tenant} and id = ${due.id} and exists (select from ended)
      returning *
    ), queued as (
      ${enqueue(sql`recorded as d where d.next_retry_at is not null`)}
    ), attempted as (
      insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms,
                                    error)
      select ${tx.tenant}, id, attempt_count, ${attempt.at}, ${attempt.status_code},
             ${attempt.latency_ms}, ${attempt.error}
        from recorded
    )
    update webhook_subscriptions as s
       set consecutive_failures = s.consecutive_failures + 1,
           active = s.active and s.consecutive_failures + 1 < ${pauseAfter},
           auto_paused_at = case when s.active and s.consecutive_failures + 1 >= ${pauseAfter}
                                 then fd_now() else s.auto_paused_at end
      from recorded
     where s.tenant_ref = ${tx.tenant} and s.id = recorded.subscription_id and s.deleted_at is null
    returning s.id, s.url, s.consecutive_failures,
              coalesce(s.auto_paused_at = fd_now(), false) as paused`,
  )

const retryOrDeadLetter = (retrySeconds: number | null): Sql =>
  retrySeconds === null
    ? sql`status = 'dead_lettered', dead_lettered_at = fd_now(), next_retry_at = null`
    : sql`next_retry_at = fd_now() + make_interval(secs => ${retrySeconds})`

/** Makes a lane's deliveries dead letters and ends it. No attempt is made, so none is counted. */
export async function deadLetter(db: Db, lane: LaneLease, error: string): Promise<void> {
  const updated = await db.run(sql`
    with ended as (
      delete from webhook_lanes where ${held(db, lane)} returning deliveries
    )
    update webhook_deliveries as d
       set status = 'dead_lettered', dead_lettered_at = fd_now(), next_retry_at = null,
           last_attempt_error = ${error}
      from ended, unnest(ended.deliveries) as unsent (id)
     where d.tenant_ref = ${db.tenant} and d.id = unsent.id`)
  if (updated === 0) throw lost(lane)
}

const lost = ({ subscription_id, lease_token }: LaneLease) =>
  new LeaseLostError(`deliveries to ${subscription_id}`, lease_token)
