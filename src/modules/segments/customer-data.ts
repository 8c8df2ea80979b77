import type { Db, Tx } from '../../db/database.ts'
import { recount } from './count.ts'
import { listWhole } from './count-queries.ts'

/** The sums that segments count for a customer, for the privacy export and erasure. */

/**
 * Counts the addresses of an erased person again, once their orders are erased: only orders of other people under the
 * same address are left.
 */
export const eraseAddresses = (tx: Tx, emails: readonly string[]): Promise<void> =>
  recount(tx, emails)

export const exportOf = async (db: Db, customer_ref: string) =>
  (await listWhole(db, customer_ref)).map(({ data }) => data)
