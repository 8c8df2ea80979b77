import type { Db, Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'
import { list } from './read.ts'
import type { Subscription } from './schema.ts'

/** A customer's subscriptions, for their profile, the privacy export and erasure. */

/** Counts the active subscriptions of each customer who has any. */
export async function countActive(
  db: Db,
  customer_refs: readonly string[],
): Promise<Map<string, number>> {
  const rows = await queries.countActive(db, customer_refs)
  return new Map(rows.map(({ customer_ref, active }) => [customer_ref, active]))
}

const LATEST = { limit: 10, offset: 0 }

/** Lists the ten latest subscriptions of a customer, newest first. */
export async function listLatest(db: Db, customer_ref: string): Promise<Subscription[]> {
  const filters = { status: undefined, customer_ref, due_before: undefined }
  return (await list(db, filters, LATEST)).subscriptions
}

/** Cancels a customer's subscriptions and erases the person. Returns those that were running. */
export const eraseCustomer = (tx: Tx, customer_ref: string, pseudonym: string) =>
  queries.erase(tx, customer_ref, pseudonym)

export const exportOf = async (db: Db, customer_ref: string) =>
  (await queries.listWhole(db, customer_ref)).map(({ data }) => data)
