import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import type { Db, TenantDb } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { LEASE_SECONDS } from '../../platform/leases.ts'
import { DueDelivery, LaneLease } from './schema.ts'

const Claimed = Type.Object({ ...DueDelivery.properties, ...LaneLease.properties })

export const leaseEnd = sql`now() + make_interval(secs => ${LEASE_SECONDS})`

/** Where it is, what signs, and whether anybody listens. Joined to the first row of a lane, and null in the others. */
export const endpointFacts = sql`
  s.url, s.active, s.consecutive_failures > 0 as troubled, s.deleted_at is not null as deleted,
  s.secret_sealed, case when s.previous_until > now() then s.previous_sealed end as previous_sealed`

/** So many at most are sent one after another and then written down together. */
export const LANE_LENGTH = 64

/** And so many bytes, not counting the last: what waits in all lanes has room in memory. */
export const LANE_BYTES = 262_144

/** Whoever takes deliveries of a store, or of one endpoint, holds this. */
export const lockOf = (tenant: string) => sql`hashtextextended(${`${tenant}/deliveries`}, 0)`

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
 * not all come to be written down together.
 *
 * Claims of one store follow one another, and exclude the taking of `settleAndTake`: whoever takes sees
 * what everybody has.
 */
export function claimDue(db: TenantDb, options: ClaimOptions) {
  const token = randomUUID()
  const lock = sql`select pg_advisory_xact_lock(${lockOf(db.tenant)})`
  return listOpened(db.behind(lock, openLanes(db, token, options)), token)
}

const openLanes = (db: Db, token: string, { limit, perEndpoint, calmOnly }: ClaimOptions) => sql`
    with endpoints as materialized (
      select s.id,
             greatest(0, ${perEndpoint}::int
                         - (select count(*)
                              from webhook_lanes as l
                             where l.tenant_ref = ${db.tenant} and l.subscription_id = s.id)) as room,
             case when s.consecutive_failures = 0
                  then 1 + floor(random() * ${LANE_LENGTH})::int else 1 end as length,
             random() as turn
        from webhook_subscriptions as s
       where s.tenant_ref = ${db.tenant}
         and (s.consecutive_failures = 0 or not ${calmOnly}::boolean)
    ), waiting as (
      select endpoints.id as subscription_id, first.id, octet_length(e.payload) as bytes, turn, room,
             row_number() over (partition by endpoints.id order by due_at) as place
        from endpoints
       cross join lateral (select delivery_id as id, event_id, due_at
                             from webhook_queue
                            where tenant_ref = ${db.tenant} and subscription_id = endpoints.id
                              and due_at <= now()
                            order by due_at
                            limit endpoints.room * endpoints.length) as first
        join webhook_events as e on e.tenant_ref = ${db.tenant} and e.id = first.event_id
    ), laned as (
      select subscription_id, id, bytes, place,
             dense_rank() over (order by turn, place % room) as lane
        from waiting
    ), measured as (
      select laned.*, sum(bytes) over (partition by lane order by place) - bytes as before from laned
    ), opened as (
      insert into webhook_lanes (tenant_ref, lease_token, lane, lease_until, subscription_id,
                                 deliveries)
      select ${db.tenant}, ${token}, lane, ${leaseEnd}, subscription_id, array_agg(id order by place)
        from measured
       where lane <= ${limit} and before < ${LANE_BYTES}
       group by lane, subscription_id
      returning deliveries
    )
    delete from webhook_queue as q
     using opened, unnest(opened.deliveries) as taken (id)
     where q.tenant_ref = ${db.tenant} and q.delivery_id = taken.id`

const listOpened = (db: Db, token: string) =>
  db.many(
    Claimed,
    sql`
    select l.subscription_id, l.lane, l.lease_token, d.id, d.event_id, d.event_type,
           d.attempt_count, d.ladder_from, convert_from(e.payload, 'UTF8') as payload, ${endpointFacts}
      from webhook_lanes as l
     cross join unnest(l.deliveries) with ordinality as due (id, place)
      join webhook_deliveries as d on d.tenant_ref = ${db.tenant} and d.id = due.id
      join webhook_events as e on e.tenant_ref = ${db.tenant} and e.id = d.event_id
      left join webhook_subscriptions as s
        on due.place = 1 and s.tenant_ref = ${db.tenant} and s.id = l.subscription_id
     where l.tenant_ref = ${db.tenant} and l.lease_token = ${token}
     order by l.lane, due.place`,
  )
