import type { Db, Tx } from '../../db/database.ts'
import type { Return } from '../orders/return-schema.ts'
import * as queries from './queries.ts'
import { listReceiptIds } from './receipt-queries.ts'
import { shown } from './show.ts'

/** The returns of a customer's orders, for their profile, the privacy export and erasure. */

/** Lists the returns of orders, by order. */
export async function listOfOrders(
  db: Db,
  order_ids: readonly string[],
): Promise<Map<string, Return[]>> {
  const returns = (await queries.listOfOrders(db, order_ids)).map(shown)
  return Map.groupBy(returns, ({ order_id }) => order_id)
}

/** Lists the returns of these orders, newest first. */
export async function listOfLatest(db: Db, order_ids: readonly string[]): Promise<Return[]> {
  const returns = (await queries.listOfOrders(db, order_ids)).map(shown)
  return returns.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
}

/**
 * Erases the texts of people from the returns of orders. Returns the ids of the returns and of their
 * receipts, which stored answers have.
 */
export async function eraseOrders(tx: Tx, order_ids: readonly string[]): Promise<string[]> {
  const return_ids = (await queries.eraseReturns(tx, order_ids)).map(({ id }) => id)
  if (return_ids.length === 0) return []
  await queries.eraseReasons(tx, return_ids)
  const receipts = await listReceiptIds(tx, return_ids)
  return [...return_ids, ...receipts.map(({ id }) => id)]
}
