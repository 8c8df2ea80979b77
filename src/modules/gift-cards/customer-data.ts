import type { Db, Tx } from '../../db/database.ts'
import type { ErasedCustomer, Renamed } from '../face-parts.ts'
import * as queries from './customer-queries.ts'
import { listPurchases } from './purchase-queries.ts'
import type { GiftCardPurchase } from './purchase-schema.ts'

/** A customer's gift cards, for the privacy export and erasure. */

/** Erases the person from the cards that were issued for them. Every amount stays. */
export async function eraseCustomer(tx: Tx, { pseudonym, ...holder }: ErasedCustomer) {
  await queries.eraseRecipients(tx, holder.emails)
  const cards = await queries.eraseCards(tx, holder, pseudonym)
  if (cards.length === 0) return
  await queries.eraseReasons(
    tx,
    cards.map(({ id }) => id),
  )
}

/** Erases the buyer of orders from their gift cards, with the messages that the buyer wrote to the recipients. */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
  renamed: Renamed,
): Promise<readonly string[]> {
  await queries.erasePurchases(tx, order_ids)
  await queries.eraseBought(tx, order_ids, renamed)
  return []
}

/** The gift cards that orders have bought, for the privacy export of their buyer. */
export async function purchasesOf(
  db: Db,
  order_ids: readonly string[],
): Promise<Map<string, GiftCardPurchase[]>> {
  const rows = await listPurchases(db, order_ids)
  const byOrder = Map.groupBy(rows, ({ order_id }) => order_id)
  return new Map([...byOrder].map(([id, all]) => [id, all.map(({ data }) => data)]))
}

/** Reads a customer's cards and their transactions, for the privacy export. */
export async function exportOf(db: Db, holder: queries.Holder) {
  const cards = await queries.listCards(db, holder)
  const transactions = await queries.listTransactions(
    db,
    cards.map(({ id }) => id),
  )
  return {
    cards: cards.map(({ data }) => data),
    transactions: transactions.map(({ data }) => data),
  }
}
