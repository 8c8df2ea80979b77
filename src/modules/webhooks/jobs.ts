import type { Database, TenantDb } from '../../db/database.ts'
import type { DueWork } from '../../platform/due-work.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { addSequence, writeEnvelope } from './envelope.ts'
import * as queries from './numbering-queries.ts'
import type { OnNumbered } from './ports.ts'
import { lockContents } from './queries.ts'

/** How many events one transaction numbers: a few milliseconds of work, and at most some megabytes. */
const BATCH_EVENTS = 200

/** How many stores one step has. The next step goes on with the stores after them. */
const STORES_MAX = 200

/** How many stores have their events numbered at the same time. This leaves most of the worker's connections free. */
const STORES_AT_ONCE = 4

export interface NumberingOptions {
  signal?: AbortSignal | undefined
  /** Called with the error of one store. If it were thrown, the loop would pause and all stores would wait. */
  onFault?: (fault: unknown, tenant: string) => void
  onNumbered?: OnNumbered
}

/**
 * Runs one step of the numbering loop, as fd_worker: gives each new event its number, its time and its bytes. Returns
 * the number of events.
 */
export async function numberNewEvents(
  database: Database,
  { signal, onFault, onNumbered = async () => {} }: NumberingOptions = {},
): Promise<number> {
  const stores = await queries.unnumberedTurns.next(database.due, STORES_MAX)
  const numberEvents = (tenant: string) =>
    numberStore(database.tenant(tenant), onNumbered).catch((fault: unknown) => {
      if (onFault === undefined) throw fault
      onFault(fault, tenant)
      return 0
    })
  return forEachStore(stores, numberEvents, { signal, concurrency: STORES_AT_ONCE })
}

/** The numbering of one store's events as due work, so that its events have the time at which they happened. */
export const dueNumbering = (onNumbered: OnNumbered): DueWork => ({
  kind: 'event',
  nextDue: queries.nextUnnumbered,
  runDue: async (db) => ({ count: await numberStore(db, onNumbered), ran: [] }),
})

function numberStore(db: TenantDb, onNumbered: OnNumbered): Promise<number> {
  return db.transaction('webhooks: number events', async (tx) => {
    // The three are sent together and run one after another: the events are read under the lock.
    const [, feed, events] = await Promise.all([
      queries.ensureFeed(tx),
      queries.lockFeed(tx),
      queries.listUnnumbered(tx, BATCH_EVENTS),
    ])
    if (feed === null || events.length === 0) return 0
    const numbered = events.map(({ id, type, data }, index) => {
      const sequence = feed.sealed_to + index + 1
      const head = { id, type, tenant_ref: tx.tenant, created_at: feed.now }
      return { id, sequence, payload: writeEnvelope(head, addSequence(data, sequence)) }
    })
    await Promise.all([
      queries.numberEvents(tx, feed.now, numbered),
      queries.moveFeed(tx, feed.sealed_to + events.length),
      onNumbered(tx, events),
    ])
    return events.length
  })
}

/** Erases events that were marked for it and have no pending delivery. Returns the number of events. */
export async function eraseDeliveredEvents(
  database: Database,
  signal?: AbortSignal,
): Promise<number> {
  const stores = await queries.listStoresToErase(database.due)
  const erase = (tenant: string) =>
    database.tenant(tenant).transaction('webhooks: erase', async (tx) => {
      await lockContents(tx)
      return queries.eraseRequested(tx)
    })
  return forEachStore(stores, erase, { signal })
}
