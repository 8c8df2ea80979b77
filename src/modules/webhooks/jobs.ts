import type { Database, TenantDb } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { addSequence, writeEnvelope } from './envelope.ts'
import { lockContents } from './queries.ts'
import * as queries from './seal-queries.ts'

/** Some milliseconds of work, and some megabytes at the very most. */
const BATCH_EVENTS = 200

/** Stores that are sealed at the same time: some of the worker's connections, not all. */
const STORES_AT_ONCE = 4

/**
 * One step of the sealing loop, as fd_worker: gives each new event its number, its time and its
 * bytes. Answers how many events it sealed. A fault of one store is for `onFault`, where that is given: thrown, it
 * would make the loop pause, and all stores wait.
 */
export async function sealDue(
  database: Database,
  signal?: AbortSignal,
  onFault?: (fault: unknown, tenant: string) => void,
): Promise<number> {
  const stores = await queries.listUnsealedTenants(database.global)
  const seal = (tenant: string) =>
    sealStore(database.tenant(tenant)).catch((fault: unknown) => {
      if (onFault === undefined) throw fault
      onFault(fault, tenant)
      return 0
    })
  return forEachStore(stores, seal, { signal, concurrency: STORES_AT_ONCE })
}

function sealStore(db: TenantDb): Promise<number> {
  return db.transaction('webhooks: seal', async (tx) => {
    // Sent together, run one after the other: what is listed was read under the lock.
    const [, feed, events] = await Promise.all([
      queries.ensureFeed(tx),
      queries.lockFeed(tx),
      queries.listUnsealed(tx, BATCH_EVENTS),
    ])
    if (feed === null || events.length === 0) return 0
    const sealed = events.map(({ id, type, data }, index) => {
      const sequence = feed.sealed_to + index + 1
      const head = { id, type, tenant_ref: tx.tenant, created_at: feed.now }
      return { id, sequence, payload: writeEnvelope(head, addSequence(data, sequence)) }
    })
    await Promise.all([
      queries.sealEvents(tx, feed.now, sealed),
      queries.moveFeed(tx, feed.sealed_to + events.length),
    ])
    return events.length
  })
}

/** Erases what was asked for and is delivered by now. Answers how many events. */
export async function eraseDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.listTenantsToErase(database.global)
  const erase = (tenant: string) =>
    database.tenant(tenant).transaction('webhooks: erase', async (tx) => {
      await lockContents(tx)
      return queries.eraseRequested(tx)
    })
  return forEachStore(stores, erase, { signal })
}
