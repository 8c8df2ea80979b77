import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, TenantDb, Tx } from '../../db/database.ts'
import { forEachDue } from '../../platform/for-each-store.ts'
import type { Lease } from '../../platform/leases.ts'
import * as stores from '../stores/service.ts'
import { advance, GATHER_SECONDS } from './count.ts'
import * as queries from './count-queries.ts'
import { deleteCounted } from './subscription-queries.ts'

/** Stores of one step, and how many of them at the same time: counting must not crowd out selling. */
const SLOTS = 16
const STORES_AT_ONCE = 2

/** The wait between two looks at a count that another worker may be busy with. */
const STEP_MS = 5

/** Takes one step of the loop, as fd_worker: counts new journals, the stores taking turns. */
export async function countNumbered(database: Database, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.countingQueue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
  const count = async (lease: Lease) => {
    const db = database.tenant(lease.tenant_ref)
    await db.transaction('analytics: count', (tx) => advance(tx, lease))
    return 1
  }
  // The signal does not end it: claimed rows would be due again only after their lease.
  return forEachDue(due, count, { concurrency: STORES_AT_ONCE })
}

/** How often the loop looks for stores whose journals have gathered. */
export const COUNT_EVERY_MS = 5_000

/** Makes the count of a store due. It is called in the transaction that numbers journals. */
export const onNewLinks = (tx: Tx, gatherSeconds = GATHER_SECONDS): Promise<number> =>
  queries.announceLinks(tx, gatherSeconds)

/**
 * Counts a store again from its first journal, beside the figures that are read meanwhile. All its
 * subscriptions are counted again, too; until then a report reads them one by one.
 */
export const rebuild = (db: TenantDb): Promise<unknown> =>
  db.transaction('analytics: rebuild', async (tx) => {
    await queries.lockAll(tx)
    await deleteCounted(tx)
    await queries.beginGeneration(tx, (await stores.get(tx)).time_zone)
  })

/** The stores that are counted, as fd_operator. */
export const listCounted = queries.listStores

/**
 * Takes one step of each count of a store that is due. Returns whether a generation is still being built:
 * false where it is ready, and is read from now on. Another worker may do the work as well.
 */
export async function stepOf(db: TenantDb): Promise<boolean> {
  for (const lease of await queries.countingQueue.claim(db, STORES_AT_ONCE)) {
    await db.transaction('analytics: count', (tx) => advance(tx, lease))
  }
  const isBuilding = (await queries.findGeneration(db, 'building')) !== null
  if (isBuilding) await sleep(STEP_MS)
  return isBuilding
}
