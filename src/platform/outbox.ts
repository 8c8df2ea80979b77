import { type Static, type TSchema, Type } from 'typebox'
import type { Database, Db, TenantDb, Tx } from '../db/database.ts'
import { machineTime, type Sql, sql } from '../db/sql.ts'
import { Id, Timestamp } from '../kernel/schema.ts'
import { HOUR_SECONDS } from '../kernel/time.ts'
import type { DueWork } from './due-work.ts'
import { forEachStore } from './for-each-store.ts'
import { defineQueue, LEASE_SECONDS, type Lease } from './leases.ts'
import { scrub } from './log.ts'
import { createSlotWorker, type SlotWorker } from './slot-worker.ts'
import { areOldest, listStoresWithOld } from './store-lists.ts'

/** The longest payload. Payloads are small: they name rows and do not contain them. */
const PAYLOAD_LENGTH_MAX = 65_536

const ERROR_LENGTH_MAX = 500

/**
 * The waits after failures. A short failure is over in seconds; an event that still fails is tried again once an hour
 * until it succeeds.
 */
const RETRY_AFTER_SECONDS: readonly number[] = [1, 5, 30, 300]
const THEN_EVERY_SECONDS = HOUR_SECONDS

/** How long handled events stay readable, so that an operator can see what was handled. */
const RETENTION_DAYS = 7

/** How many rows are deleted at once: this takes some milliseconds, so no lock is held for longer. */
const BATCH_ROWS = 1_000

const OutboxRow = Type.Object({
  type: Type.String(),
  payload: Type.Unknown(),
  created_at: Timestamp,
  attempt_count: Type.Integer(),
})

export interface OutboxEvent {
  tenant_ref: string
  id: string
  type: string
  payload: unknown
  created_at: string
}

/**
 * Handles an event. A handler may see an event twice, and events in any order: after a crash
 * between its own commit and ours, the event comes again. The signal fires when the lease is lost.
 */
export type Handler = (event: OutboxEvent, db: TenantDb, signal: AbortSignal) => Promise<void>

const queue = defineQueue({
  table: sql`outbox`,
  time: machineTime,
  columns: sql`type, payload, created_at, attempt_count`,
  shape: OutboxRow,
})

type Claimed = Static<typeof OutboxRow> & Lease

/**
 * A kind of internal event, with the shape of its payload. The type is stored with each event, so that it never
 * changes.
 */
export interface Topic<S extends TSchema = TSchema> {
  type: string
  payload: S
}

/** Makes the handler of a topic, to be listed by its type. It gets only payloads of the topic's shape. */
export const handle =
  <S extends TSchema>(
    { type, payload: shape }: Topic<S>,
    work: (payload: Static<S>, db: TenantDb, signal: AbortSignal) => Promise<void>,
  ): Handler =>
  async ({ payload }, db, signal) => {
    const { Value } = await import('typebox/value')
    if (!Value.Check(shape, payload)) throw new TypeError(`${type} has a payload of another shape`)
    await work(payload, db, signal)
  }

/** Writes an event for the platform's own handlers, in the caller's transaction. */
export async function publish<S extends TSchema>(
  tx: Tx,
  { type }: Topic<S>,
  payload: Static<S>,
): Promise<string> {
  const { id } = await tx.one(
    Type.Object({ id: Id }),
    sql`
    insert into outbox (tenant_ref, type, payload)
    values (${tx.tenant}, ${type}, ${textOf(type, payload)}::jsonb)
    returning id`,
  )
  return id
}

/**
 * Writes an event like `publish`, as the last part of a statement: one event for each row of `cause`, which its
 * `with` defines. So the cause and the event are one commit without a transaction.
 */
export const publishFrom = <S extends TSchema>(
  db: Db,
  { type }: Topic<S>,
  payload: Static<S>,
  cause: Sql,
): Sql => sql`
    insert into outbox (tenant_ref, type, payload)
    select ${db.tenant}, ${type}, ${textOf(type, payload)}::jsonb from ${cause}`

function textOf(type: string, payload: unknown): string {
  const text = JSON.stringify(payload)
  if (text === undefined) throw new TypeError(`the payload of ${type} has no JSON form`)
  if (text.length > PAYLOAD_LENGTH_MAX) throw new RangeError(`the payload of ${type} is too large`)
  return text
}

export interface OutboxWorkerOptions {
  /** As fd_worker. */
  database: Database
  /** By type. An event of another type is tried again, like one whose handler fails, until a worker knows it. */
  handlers: Readonly<Record<string, Handler>>
  /** Called when there is room for new events. */
  onFree?: () => void
  slots?: number
  leaseSeconds?: number
}

/** Hands due events to their handlers. */
export function createOutboxWorker(options: OutboxWorkerOptions): SlotWorker {
  const { database, handlers, leaseSeconds = LEASE_SECONDS } = options
  return createSlotWorker({
    ...options,
    queue,
    work: (event) =>
      deliver(database.tenant(event.tenant_ref), event, handlers[event.type], leaseSeconds),
  })
}

/** How many events of one store are handled together. */
const EVENTS_AT_ONCE = 10

/** The due events of one store as due work. Their retries follow the store's clock while it is moved. */
export const dueEvents = (handlers: Readonly<Record<string, Handler>>): DueWork => ({
  kind: 'internal_event',
  nextDue: (db) => sql`
    select fd_now() + (min(next_attempt_at) - ${machineTime}) from outbox
     where tenant_ref = ${db.tenant}`,
  shorten: (db, byMs) =>
    db.run(sql`
      update outbox
         set next_attempt_at = next_attempt_at - ${byMs}::bigint * interval '1 millisecond'
       where tenant_ref = ${db.tenant} and next_attempt_at is not null`),
  async runDue(db) {
    const events = await queue.claim(db, EVENTS_AT_ONCE)
    for (const event of events) await deliver(db, event, handlers[event.type], LEASE_SECONDS)
    return { count: events.length, ran: [] }
  },
})

async function deliver(
  db: TenantDb,
  event: Claimed,
  handler: Handler | undefined,
  leaseSeconds: number,
): Promise<void> {
  const { attempt_count, lease_token, ...shown } = event
  try {
    // During an upgrade, a newer process may publish events that this worker does not know yet.
    if (handler === undefined) throw new Error('this version of the worker has no handler for it')
    await queue.runWithLease(db, event, (lost) => handler(shown, db, lost), leaseSeconds)
  } catch (error) {
    return markFailed(db, event, error)
  }
  return markHandled(db, event)
}

const markHandled = (db: Db, event: Claimed) =>
  queue.finish(
    db,
    event,
    sql`attempt_count = attempt_count + 1, next_attempt_at = null, handled_at = ${machineTime},
        last_error = null`,
  )

const markFailed = (db: Db, event: Claimed, error: unknown) =>
  queue.finish(
    db,
    event,
    sql`attempt_count = attempt_count + 1, last_error = ${describe(error)},
        next_attempt_at = ${machineTime}
                          + make_interval(secs => ${retryAfter(event.attempt_count)})`,
  )

const retryAfter = (attemptsBefore: number): number =>
  RETRY_AFTER_SECONDS[attemptsBefore] ?? THEN_EVERY_SECONDS

/** Writes an error as text for the operator. PostgreSQL stores no U+0000, and no card number may be stored. */
function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : typeof error
  return scrub(text).replaceAll('\0', '').slice(0, ERROR_LENGTH_MAX)
}

const HANDLED = {
  table: sql`outbox`,
  only: sql`handled_at is not null`,
  since: sql`handled_at`,
  before: sql`${machineTime} - make_interval(days => ${RETENTION_DAYS})`,
}

/** Deletes events that were handled more than a week ago, in batches. Returns how many rows were deleted. */
export async function deleteHandled(database: Database): Promise<number> {
  const stores = await listStoresWithOld(database.due, HANDLED)
  return forEachStore(stores, (tenant) => deleteOld(database.tenant(tenant)))
}

const deleteOld = (db: Db) =>
  db.run(sql`delete from outbox where ${areOldest(db, HANDLED, BATCH_ROWS)}`)
