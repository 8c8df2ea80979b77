import { Type } from 'typebox'
import type { Db, DueLists, Tx } from '../../db/database.ts'
import { jsonTime, sql } from '../../db/sql.ts'
import { Timestamp } from '../../kernel/schema.ts'
import { StoreWithWork } from '../../platform/store-lists.ts'
import { createRowTurns } from '../../platform/store-turns.ts'
import { UnnumberedEvent } from './schema.ts'

/** The turns of the stores with events that have no number yet. */
export const unnumberedTurns = createRowTurns({
  table: sql`webhook_events`,
  only: sql`payload is null`,
})

export const ensureFeed = (tx: Tx) =>
  tx.run(sql`
    insert into webhook_feeds (tenant_ref) values (${tx.tenant}) on conflict do nothing`)

/** Locks the feed of a store. Returns null while another worker numbers this store's events. */
export const lockFeed = (tx: Tx) =>
  tx.maybe(
    Type.Object({ sealed_to: Type.Integer(), now: Timestamp }),
    sql`
    select sealed_to, fd_now() as now
      from webhook_feeds
     where tenant_ref = ${tx.tenant}
       for update skip locked`,
  )

/**
 * Lists the events without a number. They are found by their state and not after the last one: an older event may be
 * committed later.
 */
export const listUnnumbered = (tx: Tx, limit: number) =>
  tx.many(
    UnnumberedEvent,
    sql`
    select id, type, data, order_id, customer_ref
      from webhook_events
     where tenant_ref = ${tx.tenant} and payload is null
     order by emitted_at, id
     limit ${limit}`,
  )

/** A query of the time at which an event must be numbered: now, if an event has no number. */
export const nextUnnumbered = (db: Db) => sql`
  select case when exists (select from webhook_events
                            where tenant_ref = ${db.tenant} and payload is null)
              then fd_now() end`

export interface NumberedEvent {
  id: string
  sequence: number
  payload: Buffer
}

/**
 * Stores the numbers and the bytes of events. A trigger of the table then puts the events' deliveries into the queue.
 * The list of ids lets PostgreSQL open only the months of these events.
 */
export const numberEvents = (tx: Tx, createdAt: string, events: readonly NumberedEvent[]) =>
  tx.run(sql`
    update webhook_events as e
       set sequence = numbered.sequence, payload = numbered.payload, created_at = ${createdAt},
           data = null
      from unnest(${events.map(({ id }) => id)}::uuid[],
                  ${events.map(({ sequence }) => sequence)}::bigint[],
                  ${events.map(({ payload }) => payload)}::bytea[])
           as numbered (id, sequence, payload)
     where e.tenant_ref = ${tx.tenant} and e.id = numbered.id and e.payload is null
       and e.id = any (${events.map(({ id }) => id)}::uuid[])`)

export const moveFeed = (tx: Tx, numberedTo: number) =>
  tx.run(sql`update webhook_feeds set sealed_to = ${numberedTo} where tenant_ref = ${tx.tenant}`)

export const listStoresToErase = (worker: DueLists) =>
  worker.many(
    StoreWithWork,
    sql`
    select distinct tenant_ref
      from webhook_events
     where erase_requested_at is not null and erased_at is null
     limit 1000`,
  )

/**
 * Replaces the data of events that were marked for erasure and have no pending delivery. The rest of the
 * envelope stays. Type, store and id have no characters that JSON must escape.
 */
export const eraseRequested = (db: Db) =>
  db.run(sql`
    update webhook_events as e
       set erased_at = fd_now(), order_id = null,
           payload = convert_to(
             '{"id":"' || e.id || '","type":"' || e.type || '","tenant_ref":"' || e.tenant_ref
             || '","created_at":"'
             || ${jsonTime(sql`e.created_at`)}
             || '","data":{"erased":true,"sequence":' || e.sequence || '}}', 'UTF8')
     where e.tenant_ref = ${db.tenant} and e.erase_requested_at is not null
       and e.erased_at is null and e.sequence is not null
       and not exists (select from webhook_deliveries as d
                        where d.tenant_ref = ${db.tenant} and d.event_id = e.id
                          and d.status = 'pending')`)
