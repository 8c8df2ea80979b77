import type { Tx } from '../../db/database.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { ErasedCustomer } from '../face-parts.ts'
import * as queries from './queries.ts'

/** The carts that a customer has left, for the privacy export and erasure. */

export const exportOf = queries.listOf

export async function eraseCustomer(tx: Tx, { customer_ref, emails }: ErasedCustomer) {
  const folded = emails.map(foldEmail).filter((each) => each !== null)
  await queries.eraseOf(tx, { customer_ref, emails: folded })
}
