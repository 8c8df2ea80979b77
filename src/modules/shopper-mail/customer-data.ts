import type { Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'

/** The mails to a customer, for the privacy export and erasure. */

/** Erases the mails to a person that are about no order. */
export const eraseCustomer = (
  tx: Tx,
  { customer_ref, emails }: { customer_ref: string; emails: readonly string[] },
) => queries.eraseOthers(tx, customer_ref, emails)

/** Erases the mails about erased orders. */
export const eraseOrders = queries.eraseOfOrders

export const listMails = queries.listOf
