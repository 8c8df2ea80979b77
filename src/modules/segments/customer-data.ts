import type { Db, Tx } from '../../db/database.ts'
import { recount } from './count.ts'
import { listWhole } from './count-queries.ts'

/** What is counted of a customer, for the privacy export and erasure. */

/**
 * Counts the addresses of an erased person again, once their orders are erased: nothing is left but orders of
 * others under the same address.
 */
export const eraseAddresses = (tx: Tx, emails: readonly string[]): Promise<void> =>
  recount(tx, emails)

export const exportOf = async (db: Db, customer_ref: string) =>
  (await listWhole(db, customer_ref)).map(({ data }) => data)
