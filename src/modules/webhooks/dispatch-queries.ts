import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import type { Db, TenantDb } from '../../db/database.ts'
import { machineTime, sql } from '../../db/sql.ts'
import { LEASE_SECONDS } from '../../platform/leases.ts'
import { isReplaying } from './queue-queries.ts'
import { DueDelivery, LaneLease } from './schema.ts'

const Claimed = Type.Object({ ...DueDelivery.properties, ...LaneLease.properties })

export const leaseEnd = sql`${machineTime} + make_interval(secs => ${LEASE_SECONDS})`

/** The endpoint's URL, state and secrets. They are joined to the first row of a lane, and null in the others. */
export const endpointFacts = sql`
  s.url, s.active, s.consecutive_failures > 0 as failing, s.deleted_at is not null as deleted,
  s.secret_sealed,
  case when s.previous_until > ${machineTime} then s.previous_sealed end as previous_sealed`

/** The maximum number of deliveries that a lane sends before their results are stored together. */
export const LANE_LENGTH = 64

/** The maximum bytes of a lane, not counting its last delivery, so that all lanes fit in memory. */
export const LANE_BYTES = 262_144

/** The key of the advisory lock under which deliveries of a store, or of one endpoint, are claimed. */
export const lockOf = (tenant: string) => sql`hashtextextended(${`${tenant}/deliveries`}, 0)`

export interface ClaimOptions {
  /** The maximum number of lanes, which are sent at the same time. */
  limit: number
  /** The maximum number of lanes of one endpoint, over all workers together. */
  perEndpoint: number
  /** Leaves out endpoints whose last attempt failed. */
  healthyOnly: boolean
}

/**
 * Claims due deliveries of one store for lanes. A lane has one delivery if the endpoint's last attempt failed, and a
 * full length if the endpoint is inactive, since nothing is sent then. Otherwise it has a random length, so that
 * lanes that begin together do not all store their results together.
 *
 * The lock serialises the claims of one store and excludes `recordAndTakeNext`, so that each claim sees what the
 * others have claimed.
 */
export function claimDue(db: TenantDb, options: ClaimOptions) {
  const token = randomUUID()
  const lock = sql`
    select pg_advisory_xact_lock(${lockOf(db.tenant)}),
           set_config('plan_cache_mode', 'force_generic_plan', true)`
  return listLaneDeliveries(db.after(lock, openLanes(db, token, options)), token)
}

/**
 * The endpoints with queued deliveries, read one after another by the index. Deleted endpoints keep
 * their rows, so a store may have very many that have nothing queued.
 */
const endpointsWithWork = ({ tenant }: Pick<Db, 'tenant'>) => sql`
      select (select subscription_id from webhook_queue where tenant_ref = ${tenant}
               order by subscription_id
               limit 1) as id
      union all
      select (select subscription_id from webhook_queue where tenant_ref = ${tenant}
                 and subscription_id > endpoint_ids.id
               order by subscription_id
               limit 1)
        from endpoint_ids
       where endpoint_ids.id is not null`

/**
 * Opens lanes and moves their deliveries out of the queue. Every row is looked up by its key. PostgreSQL cannot know
 * how few queued rows are claimed: with plain joins it expects a tenth of them and reads every event of every store.
 * The limit of 128 (two lanes of an endpoint) is a literal in the statement, so that one generic plan serves every
 * call: planning takes longer than running.
 */
export const openLanes = (
  db: Pick<Db, 'tenant'>,
  token: string,
  { limit, perEndpoint, healthyOnly }: ClaimOptions,
) => sql`
    with recursive endpoint_ids as (${endpointsWithWork(db)}
    ), endpoints as materialized (
      select s.*, greatest(0, case when ${isReplaying(db, sql`s.id`)} then 1
                                   else ${perEndpoint}::int end
                              - (select count(*)
                                   from webhook_lanes as l
                                  where l.tenant_ref = ${db.tenant} and l.subscription_id = s.id)) as room
        from endpoint_ids
       cross join lateral (select id, random() as turn,
                                  case when not active then ${LANE_LENGTH}::int
                                       when consecutive_failures > 0 then 1
                                       else 1 + floor(random() * ${LANE_LENGTH})::int end as length
                             from webhook_subscriptions
                            where tenant_ref = ${db.tenant} and id = endpoint_ids.id
                              and (consecutive_failures = 0 or not ${healthyOnly}::boolean)
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

const listLaneDeliveries = (db: Db, token: string) =>
  db.many(
    Claimed,
    sql`
    select l.subscription_id, l.lane, l.lease_token, d.id, d.event_id, d.event_type,
           d.attempt_count, d.ladder_from, convert_from(e.payload, 'UTF8') as payload,
           d.replayed_at is not null as replay, ${endpointFacts}
      from webhook_lanes as l
     cross join unnest(l.deliveries) with ordinality as due (id, place)
      join webhook_deliveries as d on d.tenant_ref = ${db.tenant} and d.id = due.id
      join webhook_events as e on e.tenant_ref = ${db.tenant} and e.id = d.event_id
      left join webhook_subscriptions as s
        on due.place = 1 and s.tenant_ref = ${db.tenant} and s.id = l.subscription_id
     where l.tenant_ref = ${db.tenant} and l.lease_token = ${token}
     order by l.lane, due.place`,
  )
