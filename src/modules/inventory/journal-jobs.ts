import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { postEntries } from './journal-money.ts'
import { unpostedTurns } from './journal-queries.ts'

/** The most stores of one step. The next step continues with the stores after them. */
const STORES_MAX = 50

/** Entries of one transaction: it takes some ten milliseconds, and so few entries keep the sum of a journal exact. */
const BATCH = 500

/** Stores that are worked on at the same time: posting must not crowd out selling. */
const STORES_AT_ONCE = 2

/** One step of the loop, as fd_worker: posts the costs of goods to the ledgers. The stores take turns. */
export async function postStockJournals(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await unpostedTurns.next(database.due, STORES_MAX)
  const post = (tenant: string) =>
    database.tenant(tenant).transaction('inventory: post journals', (tx) => postEntries(tx, BATCH))
  return forEachStore(stores, post, { signal, concurrency: STORES_AT_ONCE })
}
