import type { Tx } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import type { CodeKeys } from './card-code.ts'
import { emitIssued, newCard } from './money.ts'
import * as queries from './purchase-queries.ts'
import type { CardShare, NewPurchase } from './purchase-schema.ts'
import { spent } from './purchases.ts'

/** Gift cards that are bought: issued with their order, and taken back by its refunds. */

/** Records who gets the cards of an order that waits for its payment. No card is issued yet. */
export const recordPurchases = (tx: Tx, order_id: string, purchases: readonly NewPurchase[]) =>
  queries.insertPurchases(tx, order_id, purchases)

interface PlacedOrder {
  id: string
  currency: string
  customer_ref: string
}

/**
 * Issues the cards that a paid order has bought, one for each unit. The order's journal books what the store owes
 * for them, and the events cause the mails with their codes. It does not matter if the add-on was switched off
 * meanwhile: the cards are sold. Why cards are owed and not sold: decision 0040.
 */
export async function issueBought(
  tx: Tx,
  keys: CodeKeys,
  { id: order_id, currency, customer_ref }: PlacedOrder,
): Promise<CardShare[]> {
  const purchases = await queries.listToIssue(tx, order_id)
  const rows = purchases.flatMap(({ quantity, for_buyer, ...purchase }) =>
    Array.from({ length: quantity }, () => ({
      ...newCard(keys, tx.tenant),
      ...purchase,
      customer_ref: for_buyer ? customer_ref : null,
    })),
  )
  const cards = await queries.insertBought(tx, { order_id, currency }, rows)
  const shares = cards.map(({ id, initial_balance_cents }) => ({
    gift_card_id: id,
    amount_cents: initial_balance_cents,
  }))
  await Promise.all([
    queries.logBought(tx, shares, { type: 'credit', event: 'issue', order_id, actor: 'order' }),
    ...cards.map((card) => emitIssued(tx, card)),
  ])
  return shares
}

/** Returns the entries of cards in the journal of an order: -1 for owed amounts, 1 for amounts no longer owed. */
export const cardEntries = (shares: readonly CardShare[], sign: 1 | -1): NewJournal['entries'] =>
  shares.map(({ gift_card_id, amount_cents }) => ({
    account: 'gift_card',
    ref: gift_card_id,
    amount_cents: sign * amount_cents,
  }))

/**
 * Reserves cards for a refund, before a gateway is asked: they cannot be spent until it has ended. A
 * card that was spent since it was chosen is refused.
 */
export async function reserveCards(
  tx: Tx,
  refund_id: string,
  shares: readonly CardShare[],
): Promise<void> {
  if (shares.length === 0) return
  if ((await queries.reserveCards(tx, refund_id, shares)) < shares.length) throw spent()
}

interface EndedRefund {
  refund_id: string
  order_id: string
  actor: string
  /** The amount to take back from cards; 0 if the refund failed. */
  gift_card_cents: number
}

/** The amounts that a refund took back, by card, and the amount that the cards no longer had. */
export interface TakenCards {
  shares: CardShare[]
  missing_cents: number
}

/** Ends the reservation of a refund's cards, and takes back `gift_card_cents` of them. The rest can be spent again. */
export async function takeCards(tx: Tx, ended: EndedRefund): Promise<TakenCards> {
  const { refund_id, order_id, actor, gift_card_cents } = ended
  const reserved = await queries.lockReserved(tx, refund_id)
  let left = gift_card_cents
  const shares = reserved.map(({ gift_card_id, amount_cents: most }) => {
    const amount_cents = Math.min(left, most)
    left -= amount_cents
    return { gift_card_id, amount_cents }
  })
  const taken = shares.filter(({ amount_cents }) => amount_cents > 0)
  if (shares.length > 0) await queries.endReservation(tx, shares)
  if (taken.length > 0) {
    await queries.logBought(tx, taken, { type: 'debit', event: 'refund', order_id, actor })
  }
  return { shares: taken, missing_cents: gift_card_cents - sum(taken.map(centsOf)) }
}

const centsOf = ({ amount_cents }: CardShare): number => amount_cents
