import type { Db, Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'

/** A customer's gift cards, for the privacy export and erasure. */

/** Erases the person from the cards that were issued for them. Every amount stays. */
export async function eraseCustomer(tx: Tx, holder: queries.Holder, pseudonym: string) {
  const cards = await queries.eraseCards(tx, holder, pseudonym)
  if (cards.length === 0) return
  await queries.eraseReasons(
    tx,
    cards.map(({ id }) => id),
  )
}

/** The cards and their transactions, for the privacy export. */
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
