import type { Db, Tx } from '../../db/database.ts'
import type { CardShare } from '../gift-cards/purchase-schema.ts'
import { chooseCards, findLeft } from '../gift-cards/purchases.ts'
import type { OrderRow } from '../orders/schema.ts'
import { listItems } from '../orders/service.ts'
import type { NewRefundItem } from './refund-queries.ts'
import type { Parts } from './schema.ts'

/** What a refund of all that is left takes back of the gift cards that an order has bought. */
interface TakenBack {
  items: NewRefundItem[]
  cards?: CardShare[]
}

/**
 * All gift cards of an order that no refund has taken; none where the parts have none. It is refused
 * once something of one of them is spent.
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
 * What is left on the gift cards of an order whose money has left the store already, by a lost
 * dispute or a late refund. What has been spent of them is lost.
 */
export const takeBackLeft = async (
  tx: Tx,
  { id }: OrderRow,
  { gift_card_cents }: Parts,
): Promise<Pick<TakenBack, 'cards'>> => ({ cards: await findLeft(tx, id, gift_card_cents) })
