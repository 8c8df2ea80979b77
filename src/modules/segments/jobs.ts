import type { Database, Tx } from '../../db/database.ts'
import { forEachDue } from '../../platform/for-each-store.ts'
import type { Lease } from '../../platform/leases.ts'
import { advance, GATHER_SECONDS } from './count.ts'
import * as queries from './count-queries.ts'

/** How many stores one step counts, and how many of them at the same time: counting must not slow down selling. */
const SLOTS = 16
const STORES_AT_ONCE = 2

/** Runs one step of the loop, as fd_worker: counts the orders of new journals, the stores taking turns. */
export async function countPeople(database: Database, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queries.countingQueue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
  const count = async (lease: Lease) => {
    const db = database.tenant(lease.tenant_ref)
    await db.transaction('segments: count', (tx) => advance(tx, lease))
    return 1
  }
  // The signal does not end this: claimed positions would be due again only after their leases.
  return forEachDue(due, count, { concurrency: STORES_AT_ONCE })
}

/** Makes the people of new journals' orders be counted again, in the transaction that numbers the journals. */
export const onNewLinks = (tx: Tx, gatherSeconds = GATHER_SECONDS): Promise<number> =>
  queries.announceLinks(tx, gatherSeconds)
