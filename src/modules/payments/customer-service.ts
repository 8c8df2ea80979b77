import type { Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'

/** Forgets by what the cards of these orders could be charged again. What refunds need stays. */
export async function eraseOrders(tx: Tx, order_ids: readonly string[]) {
  await queries.forgetCards(tx, order_ids)
}
