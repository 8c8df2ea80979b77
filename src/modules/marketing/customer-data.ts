import type { Db, Tx } from '../../db/database.ts'
import { foldEmail } from '../../kernel/email.ts'
import * as queries from './customer-queries.ts'
import { erase } from './newsletter-queries.ts'

/** A customer's coupon redemptions, for the privacy export and erasure. */

/**
 * Replaces the customer of these orders in the redemptions by a pseudonym. The uses stay counted.
 */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
  renamed: { customer_refs: readonly string[]; pseudonyms: readonly string[] },
) {
  await queries.eraseRedemptions(tx, order_ids, renamed)
}

/** Takes the addresses of a person off the newsletter, with the proof that they asked for it. */
export const eraseSubscriber = (tx: Tx, emails: readonly string[]) =>
  erase(
    tx,
    emails.map(foldEmail).filter((each) => each !== null),
  )

export const exportOf = async (db: Db, order_ids: readonly string[]) =>
  (await queries.listRedemptions(db, order_ids)).map(({ data }) => data)
