import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, TenantDb, Tx } from '../../db/database.ts'
import { takeSteps } from '../../platform/follower.ts'
import * as stores from '../stores/service.ts'
import { advance, GATHER_SECONDS } from './count.ts'
import * as queries from './count-queries.ts'
import { deleteCounted } from './subscription-queries.ts'

/**
 * How many counts of a store one call of `stepOf` may advance: the one that reports read, and the one that is being
 * built.
 */
const COUNTS = 2

/** The wait between two looks at a count that another worker may be busy with. */
const STEP_MS = 5

/** Takes one step of the loop, as fd_worker: counts new journals, the stores taking turns. */
export const countNumbered = (database: Database, signal?: AbortSignal): Promise<number> =>
  takeSteps(
    database,
    { name: 'analytics: count', queue: queries.countingQueue, step: advance },
    signal,
  )

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
 * Takes one step of each count of a store that is due. Returns whether a generation is still being built; false means
 * that it is ready, and reports read it from now on. Another worker may do the work as well.
 */
export async function stepOf(db: TenantDb): Promise<boolean> {
  for (const lease of await queries.countingQueue.claim(db, COUNTS)) {
    await db.transaction('analytics: count', (tx) => advance(tx, lease))
  }
  const isBuilding = (await queries.findGeneration(db, 'building')) !== null
  if (isBuilding) await sleep(STEP_MS)
  return isBuilding
}
