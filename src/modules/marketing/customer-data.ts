import type { Db, Tx } from '../../db/database.ts'
import { foldEmail } from '../../kernel/email.ts'
import type { ErasedCustomer, Renamed } from '../face-parts.ts'
import * as consents from './consent-queries.ts'
import * as queries from './customer-queries.ts'
import { erase } from './newsletter-queries.ts'
import * as suppressions from './suppression-queries.ts'

/** A customer's coupon redemptions and consents, for the privacy export and erasure. */

/**
 * Replaces the customer of these orders in the redemptions by a pseudonym. The uses stay counted.
 */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
  renamed: Renamed,
): Promise<readonly string[]> {
  await queries.eraseRedemptions(tx, order_ids, renamed)
  return []
}

const foldAll = (emails: readonly string[]) => emails.map(foldEmail).filter((each) => each !== null)

/**
 * Takes the addresses of a person off the newsletter, and deletes the proof that the person asked for it. Their
 * suppressions are deleted too: without a consent no newsletter and no campaign is mailed to them.
 */
export async function eraseCustomer(tx: Tx, { emails }: ErasedCustomer) {
  const folded = foldAll(emails)
  await erase(tx, folded)
  await consents.erase(tx, folded)
  await suppressions.erase(tx, folded)
}

/** Reads the decisions of a person under an address and its suppressions, for the privacy export. */
export async function exportReader(db: Db, email: string) {
  const folded = foldAll([email])
  const [decided, suppressed] = await Promise.all([
    consents.listWhole(db, folded),
    suppressions.listWhole(db, folded),
  ])
  return {
    consents: decided.map(({ data }) => data),
    mail_suppressions: suppressed.map(({ data }) => data),
  }
}

export const exportOf = async (db: Db, order_ids: readonly string[]) =>
  (await queries.listRedemptions(db, order_ids)).map(({ data }) => data)
