import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import type { Db, TenantDb } from '../../db/database.ts'
import { machineTime, sql } from '../../db/sql.ts'
import { LEASE_SECONDS } from '../../platform/leases.ts'
import { DueDelivery, LaneLease } from './schema.ts'

const Claimed = Type.Object({ ...DueDelivery.properties, ...LaneLease.properties })

export const leaseEnd = sql`${machineTime} + make_interval(secs => ${LEASE_SECONDS})`

/** Where it is, what signs, and whether anybody listens. Joined to the first row of a lane, and null in the others. */
export const endpointFacts = sql`
  s.url, s.active, s.consecutive_failures > 0 as troubled, s.deleted_at is not null as deleted,
  s.secret_sealed,
  case when s.previous_until > ${machineTime} then s.previous_sealed end as previous_sealed`

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
 * failed, a row of them where all is well, and a full one where nobody listens and none is sent. Of any
 * length at first, so that lanes that begin together do not all come to be written down together.
 *
 * Claims of one store follow one another, and exclude the taking of `settleAndTake`: whoever takes sees
 * what everybody has.
 */
export function claimDue(db: TenantDb, options: ClaimOptions) {
  const token = randomUUID()
  const lock = sql`
    select pg_advisory_xact_lock(${lockOf(db.tenant)}),
           set_config('plan_cache_mode', 'force_generic_plan', true)`
  return listOpened(db.after(lock, openLanes(db, token, options)), token)
}

/**
 * The endpoints that something waits for, from one to the next by the index: a store has those that it has
 * deleted for ever, and may have very many.
 */
const waitedFor = ({ tenant }: Pick<Db, 'tenant'>) => sql`
      select (select subscription_id from webhook_queue where tenant_ref = ${tenant}
               order by subscription_id
               limit 1) as id
      union all
      select (select subscription_id from webhook_queue where tenant_ref = ${tenant}
                 and subscription_id > waited_for.id
               order by subscription_id
               limit 1)
        from waited_for
       where waited_for.id is not null`

/**
 * Everything is looked up by its key, one by one. PostgreSQL cannot know how little is taken of what waits: left to
 * join, it expects a tenth of all of that, and reads every event of every store. What the lanes of an endpoint
 * hold together is a number in the text, so that one plan does for all: to make one takes longer than to follow it.
 */
export const openLanes = (
  db: Pick<Db, 'tenant'>,
  token: string,
  { limit, perEndpoint, calmOnly }: ClaimOptions,
) => sql`
    with recursive waited_for as (${waitedFor(db)}
    ), endpoints as materialized (
      select s.*, greatest(0, ${perEndpoint}::int
                              - (select count(*)
                                   from webhook_lanes as l
                                  where l.tenant_ref = ${db.tenant} and l.subscription_id = s.id)) as room
        from waited_for
       cross join lateral (select id, random() as turn,
                                  case when not active then ${LANE_LENGTH}::int
                                       when consecutive_failures > 0 then 1
                                       else 1 + floor(random() * ${LANE_LENGTH})::int end as length
                             from webhook_subscriptions
                            where tenant_ref = ${db.tenant} and id = waited_for.id
                              and (consecutive_failures = 0 or not ${calmOnly}::boolean)
                            limit 1) as s
    ), waiting as (
      select endpoints.id as subscription_id, first.id, turn, room, place,
             (select octet_length(payload) from webhook_events
               where tenant_ref = ${db.tenant} and id = first.event_id) as bytes
        from endpoints
       cross join lateral (select delivery_id as id, event_id,
                                  row_number() over (order by tenant_ref, subscription_id, due_at) as place
                             from (select tenant_ref, subscription_id, due_at, delivery_id, event_id
                                     from webhook_queue
                                    where (tenant_ref, subscription_id, due_at)
                                          >= (${db.tenant}, endpoints.id, '-infinity')
                                      and (tenant_ref, subscription_id, due_at)
                                          <= (${db.tenant}, endpoints.id, fd_now())
                                    order by tenant_ref, subscription_id, due_at
                                    limit 128) as at_most
                            limit endpoints.room * endpoints.length) as first
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
    delete from webhook_queue
     where tenant_ref = ${db.tenant}
       and delivery_id = any(array(select unnest(deliveries) from opened))`

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
