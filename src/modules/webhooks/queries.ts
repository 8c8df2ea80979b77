import { Type } from 'typebox'
import type { AllStores, Db, Tx } from '../../db/database.ts'
import { type Found, NEWEST_KEY, readList } from '../../db/list.ts'
import { join, machineTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Timestamp } from '../../kernel/schema.ts'
import {
  Attempt,
  Delivery,
  type DeliveryStatus,
  FeedEvent,
  Subscription,
  SubscriptionWithSecrets,
  TEST_EVENT,
} from './schema.ts'

const columns = sql`id, url, description, events, active, consecutive_failures, auto_paused_at,
                    created_at`
const withSecrets = sql`${columns}, secret_sealed, previous_sealed, previous_until, deleted_at`

/** Serialises the changes of one store's subscriptions, so that their number stays within the limit. */
export const lockSubscriptions = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/webhooks`}, 0))`)

/**
 * Serialises redrives and erasures of one store. An erasure must not remove the content of an event that
 * a redrive is about to send.
 */
export const lockContents = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${tx.tenant}/contents`}, 0))`)

export const countSubscriptions = (db: Db) =>
  db.one(
    Type.Object({ existing: Type.Integer() }),
    sql`
    select count(*) as existing
      from webhook_subscriptions
     where tenant_ref = ${db.tenant} and deleted_at is null`,
  )

export interface SubscriptionRow {
  id: string
  url: string
  events: readonly string[]
  description: string | null
  secret_sealed: Buffer
}

export const insertSubscription = (db: Db, row: SubscriptionRow) =>
  db.one(
    Subscription,
    sql`
    insert into webhook_subscriptions (tenant_ref, id, url, description, events, secret_sealed)
    values (${db.tenant}, ${row.id}, ${row.url}, ${row.description}, ${row.events},
            ${row.secret_sealed})
    returning ${columns}`,
  )

export const findPaused = (db: Db, url: string) =>
  db.maybe(
    Subscription,
    sql`
    select ${columns}
      from webhook_subscriptions
     where tenant_ref = ${db.tenant} and url = ${url} and not active and deleted_at is null
     order by auto_paused_at desc
     limit 1`,
  )

/** Makes a paused subscription active again, with a new secret. */
export const reactivateSubscription = (db: Db, row: SubscriptionRow) =>
  db.one(
    Subscription,
    sql`
    update webhook_subscriptions
       set active = true, consecutive_failures = 0, auto_paused_at = null, events = ${row.events},
           description = ${row.description}, secret_sealed = ${row.secret_sealed},
           previous_sealed = null, previous_until = null
     where tenant_ref = ${db.tenant} and id = ${row.id} and not active and deleted_at is null
    returning ${columns}`,
  )

export const listSubscriptions = (db: Db) =>
  db.many(
    Subscription,
    sql`
    select ${columns}
      from webhook_subscriptions
     where tenant_ref = ${db.tenant} and deleted_at is null
     order by created_at, id`,
  )

export const findSubscription = (db: Db, id: string) =>
  db.maybe(
    SubscriptionWithSecrets,
    sql`
    select ${withSecrets} from webhook_subscriptions where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const markDeleted = (db: Db, id: string) =>
  db.run(sql`
    update webhook_subscriptions
       set deleted_at = fd_now(), active = false, secret_sealed = null, previous_sealed = null,
           previous_until = null
     where tenant_ref = ${db.tenant} and id = ${id} and deleted_at is null`)

/** Replaces the secret of an endpoint. Returns null while the previous secret still signs. */
export const rotateSecret = (db: Db, id: string, encrypted: Buffer) =>
  db.maybe(
    Type.Object({ ...Subscription.properties, previous_until: Timestamp }),
    sql`
    update webhook_subscriptions
       set previous_sealed = secret_sealed, secret_sealed = ${encrypted},
           previous_until = ${machineTime} + interval '24 hours'
     where tenant_ref = ${db.tenant} and id = ${id} and deleted_at is null
       and (previous_until is null or previous_until <= ${machineTime})
    returning ${columns}, previous_until`,
  )

export interface NewEvent {
  type: string
  data: string
  order_id: string | null
  customer_ref: string | null
}

const Emitted = Type.Object({ event_id: Id })

/**
 * Inserts the event, and a delivery for every endpoint that is subscribed to it, provided that `allowed` holds. A
 * paused endpoint gets a dead letter, so that nothing is lost. `emitted_at` is the time of this statement, and not
 * the time at which the transaction began: a transaction that waited for an order's lock comes after the one that had
 * it.
 */
export const insertEvent = (tx: Tx, event: NewEvent, allowed: Sql | null) =>
  tx.one(
    Emitted,
    sql`
    with event as (
      insert into webhook_events (tenant_ref, type, data, order_id, customer_ref, emitted_at)
      values (${tx.tenant}, ${event.type}, ${event.data}, ${event.order_id}, ${event.customer_ref},
              fd_clock())
      returning id
    ), deliveries as (
      insert into webhook_deliveries (tenant_ref, id, event_id, subscription_id, event_type,
                                      endpoint_url, status, next_retry_at, dead_lettered_at,
                                      last_attempt_error)
      select s.tenant_ref, fd_delivery_id(event.id, s.id), event.id, s.id, ${event.type}, s.url,
             case when s.active then 'pending' else 'dead_lettered' end,
             case when s.active then fd_now() end,
             case when not s.active then fd_now() end,
             case when not s.active then 'subscription_inactive' end
        from event, webhook_subscriptions as s
       where s.tenant_ref = ${tx.tenant} and s.deleted_at is null
         and ${event.type} = any (s.events) ${allowed === null ? sql`` : sql`and ${allowed}`}
    )
    select id as event_id from event`,
  )

const shown = sql`d.id, d.subscription_id, d.event_id, d.event_type, d.endpoint_url, d.status,
                  d.attempt_count, d.next_retry_at, d.last_status_code, d.last_attempt_error,
                  d.created_at, d.delivered_at, d.dead_lettered_at, d.replayed_at,
                  convert_from(e.payload, 'UTF8')::json as payload`

const itsEvent = sql`join webhook_events as e on e.tenant_ref = d.tenant_ref and e.id = d.event_id`

export interface DeliveryFilters {
  status?: DeliveryStatus | undefined
  subscription_id?: string | undefined
  event_id?: string | undefined
  event_type?: string | undefined
}

/**
 * The keys of pending deliveries, without an index of `status`: such an index would be written to by every delivery
 * that succeeds. A pending delivery is in the queue, in a lane, or waits for its event's bytes. The few that are in a
 * lane or wait are looked up one by one.
 */
const pendingKeys = (db: Db) => sql`
  select created_at, delivery_id as id
    from webhook_queue
   where tenant_ref = ${db.tenant} and created_at is not null
   union
  select d.created_at, d.id
    from (select delivery_id as id
            from webhook_queue
           where tenant_ref = ${db.tenant} and created_at is null
           union all
          select unnest(deliveries) from webhook_lanes where tenant_ref = ${db.tenant}
           union all
          select unsent.id
            from webhook_events as unsealed
            join webhook_deliveries as unsent
              on unsent.tenant_ref = unsealed.tenant_ref and unsent.event_id = unsealed.id
           where unsealed.tenant_ref = ${db.tenant} and unsealed.payload is null) as waiting
   cross join lateral (
         select created_at, id
           from webhook_deliveries
          where tenant_ref = ${db.tenant} and id = waiting.id and status = 'pending'
          limit 1) as d`

/** The condition for a status, as the indexes have it: `webhook_deliveries_dead` has the dead letters. */
const inStatus = (status: DeliveryStatus): Sql =>
  status === 'dead_lettered' ? sql`d.dead_lettered_at is not null` : sql`d.status = ${status}`

const matching = (filters: DeliveryFilters): Sql[] => {
  const { status, subscription_id, event_id, event_type } = filters
  const where: Sql[] = []
  if (status !== undefined) where.push(inStatus(status))
  if (subscription_id !== undefined) where.push(sql`d.subscription_id = ${subscription_id}`)
  if (event_id !== undefined) where.push(sql`d.event_id = ${event_id}`)
  if (event_type !== undefined) where.push(sql`d.event_type = ${event_type}`)
  return where
}

/** Finds the pending deliveries that meet the other filters. */
function pending(db: Db, filters: DeliveryFilters): Found {
  const others = matching({ ...filters, status: undefined })
  if (others.length === 0) return { keys: pendingKeys(db), isSearch: true }
  return {
    keys: sql`
      select d.created_at, d.id
        from (${pendingKeys(db)}) as pending
        join webhook_deliveries as d on d.tenant_ref = ${db.tenant} and d.id = pending.id
       where ${join(others, ' and ')}`,
    isSearch: true,
  }
}

/** Lists deliveries, newest first. */
export const listDeliveries = (db: Db, filters: DeliveryFilters, page: Page) =>
  readList(
    db,
    {
      shape: Delivery,
      table: sql`webhook_deliveries`,
      as: sql`d`,
      scope: sql`d.tenant_ref = ${db.tenant}`,
      filters: matching(filters),
      ...(filters.status === 'pending' && { found: pending(db, filters) }),
      key: NEWEST_KEY,
      descending: true,
      columns: shown,
      joins: itsEvent,
    },
    page,
  )

export const findDelivery = (db: Db, id: string) =>
  db.maybe(
    Delivery,
    sql`
    select ${shown}
      from webhook_deliveries as d ${itsEvent}
     where d.tenant_ref = ${db.tenant} and d.id = ${id}`,
  )

export const listAttempts = (db: Db, deliveryId: string) =>
  db.many(
    Attempt,
    sql`
    select attempt, at, status_code, latency_ms, error
      from webhook_attempts
     where tenant_ref = ${db.tenant} and delivery_id = ${deliveryId}
     order by attempt`,
  )

export interface TestRow {
  delivery_id: string
  event_id: string
  subscription: { id: string; url: string }
  payload: Buffer
  created_at: string
  delivered: boolean
  attempt: Omit<Attempt, 'attempt'>
}

/** Records a test fire after its attempt. It is never due, so it is never sent again. */
export const insertTest = (db: Db, row: TestRow) =>
  db.run(sql`
    with event as (
      insert into webhook_events (tenant_ref, id, type, payload, created_at)
      values (${db.tenant}, ${row.event_id}, ${TEST_EVENT}, ${row.payload}, ${row.created_at})
      returning id
    ), delivery as (
      insert into webhook_deliveries (tenant_ref, id, event_id, subscription_id, event_type,
                                      endpoint_url, status, attempt_count, next_retry_at,
                                      last_status_code, last_attempt_error, delivered_at,
                                      dead_lettered_at)
      select ${db.tenant}, ${row.delivery_id}, event.id, ${row.subscription.id}, ${TEST_EVENT},
             ${row.subscription.url},
             case when ${row.delivered}::boolean then 'delivered' else 'dead_lettered' end, 1, null,
             ${row.attempt.status_code}, ${row.attempt.error},
             case when ${row.delivered}::boolean then fd_now() end,
             case when not ${row.delivered}::boolean then fd_now() end
        from event
      returning id
    )
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at, status_code, latency_ms,
                                  error)
    select ${db.tenant}, delivery.id, 1, ${row.attempt.at}, ${row.attempt.status_code},
           ${row.attempt.latency_ms}, ${row.attempt.error}
      from delivery`)

/** After how many bytes a page ends: five hundred of the largest events would not fit in memory. */
const FEED_BYTES = 4_194_304

/**
 * Lists events up to `numberedTo`, the number of the last event that had one when the read began: a reader may continue
 * after it.
 */
export const listFeed = (db: Db, after: number, numberedTo: number, limit: number) =>
  db.many(
    FeedEvent,
    sql`
    with page as (
      select sequence, octet_length(payload) as bytes
        from webhook_events
       where tenant_ref = ${db.tenant} and sequence > ${after} and sequence <= ${numberedTo}
       order by sequence
       limit ${limit}
    ), measured as (
      select sequence, sum(bytes) over (order by sequence) - bytes as before from page
    )
    select e.sequence, e.id, e.type, e.created_at,
           convert_from(e.payload, 'UTF8')::json -> 'data' as data
      from measured
      join webhook_events as e on e.tenant_ref = ${db.tenant} and e.sequence = measured.sequence
     where measured.before < ${FEED_BYTES}
     order by e.sequence`,
  )

const NumberedTo = Type.Object({ sealed_to: Type.Integer() })

export const findNumberedTo = (db: Db) =>
  db.maybe(NumberedTo, sql`select sealed_to from webhook_feeds where tenant_ref = ${db.tenant}`)

/** Finds the store of a delivery or subscription, with the operator's login. */
export const findTenantOf = (operator: AllStores, of: 'delivery' | 'subscription', id: string) =>
  operator.maybe(
    Type.Object({ tenant_ref: Type.String() }),
    sql`
    select tenant_ref
      from ${of === 'delivery' ? sql`webhook_deliveries` : sql`webhook_subscriptions`}
     where id = ${id}
     limit 1`,
  )
