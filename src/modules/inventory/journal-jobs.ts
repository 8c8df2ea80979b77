import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { postEntries } from './journal-money.ts'
import { unpostedTurns } from './journal-queries.ts'

/** Stores of one step. The next step goes on with those after them. */
const STORES_MAX = 50

/** Entries of one transaction: some ten milliseconds, and few enough that the sum of a journal is exact. */
const BATCH = 500

/** Stores that are worked on at the same time: posting must not crowd out selling. */
const STORES_AT_ONCE = 2

/** One step of the loop, as fd_worker: posts what goods have cost to the ledgers, the stores taking turns. */
export async function postStockJournals(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await unpostedTurns.next(database.global, STORES_MAX)
  const post = (tenant: string) =>
    database.tenant(tenant).transaction('inventory: post journals', (tx) => postEntries(tx, BATCH))
  return forEachStore(stores, post, { signal, concurrency: STORES_AT_ONCE })
}
