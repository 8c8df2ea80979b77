import type { Database, Tx } from '../db/database.ts'
import { forEachDue } from './for-each-store.ts'
import type { Lease, Queue } from './leases.ts'

/**
 * Steps of loops that work through the stores by a queue, each step one transaction under its lease.
 *
 * A follower is such a loop. It counts, some seconds later, what the stores have written and numbered: the journals of
 * the ledger, the events of the feed. A step reads what stands after the position of a store, counts it and moves the
 * position, so that everything is counted once, whenever a process is killed.
 */

/** How many rows one step of a follower reads: some ten milliseconds, so that other stores have their turn. */
export const FOLLOWED_ROWS = 500

/** Stores of one turn, and how many of them at the same time: counting must not crowd out selling. */
const SLOTS = 16
const STORES_AT_ONCE = 2

interface Steps<Row> {
  /** The name of the transactions. */
  name: string
  queue: Queue<Row>
  /** Does the work of one store, and ends the lease with `queue.finish`. */
  step(tx: Tx, lease: Lease): Promise<number>
}

/** Takes one step of each store whose turn it is, as fd_worker. Returns how many steps it took. */
export async function takeSteps<Row>(
  database: Database,
  { name, queue, step }: Steps<Row>,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const due = await queue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
  const takeStep = async (lease: Lease) => {
    await database.tenant(lease.tenant_ref).transaction(name, (tx) => step(tx, lease))
    return 1
  }
  // The signal does not end the turn: claimed positions would be due again only after their leases.
  return forEachDue(due, takeStep, { concurrency: STORES_AT_ONCE })
}
