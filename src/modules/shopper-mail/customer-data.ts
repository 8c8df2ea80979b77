import type { Tx } from '../../db/database.ts'
import type { ErasedCustomer } from '../face-parts.ts'
import * as queries from './customer-queries.ts'

/** The mails to a customer, for the privacy export and erasure. */

/** Erases the mails to a person that are about no order. */
export async function eraseCustomer(tx: Tx, { customer_ref, emails }: ErasedCustomer) {
  await queries.eraseOthers(tx, customer_ref, emails)
}

/** Erases the mails about erased orders. */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
): Promise<readonly string[]> {
  await queries.eraseOfOrders(tx, order_ids)
  return []
}

export const listMails = queries.listOf
