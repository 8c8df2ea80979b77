import type { Tx } from '../../db/database.ts'
import { foldEmail } from '../../kernel/email.ts'
import * as queries from './queries.ts'

/** The carts that a customer has left, for the privacy export and erasure. */

export const exportOf = queries.listOf

export const eraseCustomer = (
  tx: Tx,
  { customer_ref, emails }: { customer_ref: string; emails: readonly string[] },
) =>
  queries.eraseOf(tx, {
    customer_ref,
    emails: emails.map(foldEmail).filter((each) => each !== null),
  })
