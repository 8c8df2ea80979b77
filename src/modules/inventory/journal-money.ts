import type { Tx } from '../../db/database.ts'
import * as ledger from '../ledger/money.ts'
import * as stores from '../stores/service.ts'
import * as queries from './journal-queries.ts'
import { journalsOf } from './journals.ts'

/**
 * Posts the next cost entries of a store to its ledger, and deletes them from the queue in the same transaction:
 * whenever a process is killed, an entry is in the queue or in a journal, and never in both. Returns the number of
 * entries. The currency of a store is fixed from its first purchase order on, and there is no cost before that.
 */
export async function postEntries(tx: Tx, limit: number): Promise<number> {
  const entries = await queries.takeUnposted(tx, limit)
  if (entries.length === 0) return 0
  const { currency } = await stores.get(tx)
  await ledger.postAll(tx, journalsOf(entries, currency))
  return entries.length
}
