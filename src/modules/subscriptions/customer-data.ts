import type { Db, Tx } from '../../db/database.ts'
import type { ErasedCustomer } from '../face-parts.ts'
import * as queries from './customer-queries.ts'
import { subscriptionCancelled } from './events.ts'
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

/** Cancels a customer's subscriptions and erases the person. */
export async function eraseCustomer(tx: Tx, { customer_ref, pseudonym }: ErasedCustomer) {
  for (const subscription of await queries.erase(tx, customer_ref, pseudonym)) {
    await subscriptionCancelled.emit(tx, subscription, { status: 'cancelled', reason: 'erased' })
  }
}

export const exportOf = async (db: Db, customer_ref: string) =>
  (await queries.listWhole(db, customer_ref)).map(({ data }) => data)
