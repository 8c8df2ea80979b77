import type { Db, Tx } from '../../db/database.ts'
import type { CardShare } from '../gift-cards/purchase-schema.ts'
import { chooseCards, findLeft } from '../gift-cards/purchases.ts'
import type { OrderRow } from '../orders/schema.ts'
import { listItems } from '../orders/service.ts'
import type { NewRefundItem } from './refund-queries.ts'
import type { Parts } from './schema.ts'

/** The gift cards that a refund of everything left takes back from an order. */
interface TakenBack {
  items: NewRefundItem[]
  cards?: CardShare[]
}

/**
 * Finds all gift cards of an order that no refund has taken back, or none if the parts have none. Refuses if
 * any of them is partly spent.
 */
export async function takeBackAll(
  db: Db,
  { id }: OrderRow,
  { gift_card_cents }: Parts,
): Promise<TakenBack> {
  if (gift_card_cents === 0) return { items: [] }
  const lines = (await listItems(db, id)).filter(({ gift_card }) => gift_card)
  const items = lines
    .map(({ id: order_item_id, quantity, refunded_quantity, unit_price_cents }) => ({
      order_item_id,
      quantity: quantity - refunded_quantity,
      amount_cents: unit_price_cents * (quantity - refunded_quantity),
      restocked_quantity: 0,
    }))
    .filter(({ quantity }) => quantity > 0)
  return { items, cards: await chooseCards(db, id, items) }
}

/**
 * Finds what is left on the gift cards of an order whose money has already left the store, by a lost dispute or a
 * late refund. Amounts that have been spent are lost.
 */
export const takeBackLeft = async (
  tx: Tx,
  { id }: OrderRow,
  { gift_card_cents }: Parts,
): Promise<Pick<TakenBack, 'cards'>> => ({ cards: await findLeft(tx, id, gift_card_cents) })
