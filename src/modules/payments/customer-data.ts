import type { Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'

/** A customer's stored cards, for erasure. */

/**
 * Erases the vault ids, by which the cards of these orders could be charged again. Refunds need
 * only the other facts of an attempt, which stay.
 */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
): Promise<readonly string[]> {
  await queries.eraseVaultIds(tx, order_ids)
  return []
}
