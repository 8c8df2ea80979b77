import type { Db, Tx } from '../../db/database.ts'
import { ApiError, invalidBody, readEach } from '../../errors.ts'
import { DAY_MS, hourOfDay, localDay } from '../../kernel/time.ts'
import * as queries from './purchase-queries.ts'
import {
  type BoughtCard,
  CARDS_PER_ORDER_MAX,
  type CardShare,
  type GiftCardPurchase,
  type NewPurchase,
  type Recipient,
  SEND_DAYS_MAX,
} from './purchase-schema.ts'

/** The gift cards of orders: the purchases that a checkout asks for, and the cards that a refund can take back. */

/** The gift cards of an order, line by line. */
export const listPurchases = async (db: Db, order_id: string): Promise<GiftCardPurchase[]> =>
  (await queries.listPurchases(db, [order_id])).map(({ data }) => data)

/** Finds the name of the recipient and the message of a bought card. Returns null for a card that was not bought. */
export const findWords = queries.findWords

/** The hour at which a mail goes out on its chosen day: people are awake. */
const SEND_HOUR = 9

/** A line of a cart that buys gift cards. */
export interface CardLine {
  order_item_id: string
  quantity: number
  amount_cents: number
  /** Its place in the request, for refusals. */
  index: number
  recipient: Recipient | null
}

interface Buyer {
  email: string | null
  time_zone: string
}

/** Reads the gift cards that a checkout asks for, and refuses those that cannot be issued or mailed. */
export function readPurchases(
  db: Pick<Db, 'clock'>,
  lines: readonly CardLine[],
  buyer: Buyer,
): NewPurchase[] {
  const cards = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  if (cards > CARDS_PER_ORDER_MAX) {
    throw invalidBody('items', `must have at most ${CARDS_PER_ORDER_MAX} gift cards`)
  }
  return readEach(lines, ({ recipient, index, ...line }) => {
    const recipient_email = recipient?.recipient_email ?? buyer.email
    if (recipient_email === null) {
      throw invalidBody(
        'email',
        'must be sent: a gift card without a recipient is mailed to this address',
      )
    }
    const path = `items.${index}.gift_card.send_on`
    return {
      ...line,
      for_buyer: recipient === null,
      recipient_email,
      recipient_name: recipient?.recipient_name?.trim() || null,
      message: recipient?.message?.trim() || null,
      send_at: readSendOn(db.clock.now(), buyer.time_zone, { day: recipient?.send_on, path }),
    }
  })
}

/** Returns when the mail of a chosen day is sent, or null if it is sent at once: without a day, or for today. */
function readSendOn(
  now: number,
  time_zone: string,
  { day, path }: { day: string | null | undefined; path: string },
): string | null {
  if (!day) return null
  const at = hourOfDay(time_zone, day, SEND_HOUR)
  if (at === null) throw invalidBody(path, 'must be a day such as 2026-12-24')
  const today = localDay(time_zone, new Date(now))
  if (day < today) throw invalidBody(path, 'must not be in the past')
  if (at.getTime() > now + SEND_DAYS_MAX * DAY_MS) {
    throw invalidBody(path, `must be at most ${SEND_DAYS_MAX} days ahead`)
  }
  return day === today ? null : at.toISOString()
}

/** Units of a line whose cards are to be taken back. */
export interface CardUnits {
  order_item_id: string
  quantity: number
}

/**
 * Chooses the cards that a refund of units takes back: only whole ones, and first those that are not mailed yet. A
 * card that is partly spent is not refunded.
 */
export async function chooseCards(
  db: Db,
  order_id: string,
  units: readonly CardUnits[],
): Promise<CardShare[]> {
  if (units.length === 0) return []
  const bought = await queries.listBought(db, order_id)
  const whole = bought.filter(isWhole)
  const chosen = units.map((line) => ({
    ...line,
    cards: whole
      .filter(({ order_item_id }) => order_item_id === line.order_item_id)
      .slice(0, line.quantity),
  }))
  const short = chosen.filter(({ cards, quantity }) => cards.length < quantity)
  if (short.length > 0) {
    throw spent(
      short.map(({ order_item_id, quantity, cards }) => ({
        order_item_id,
        requested: quantity,
        refundable_quantity: cards.length,
      })),
    )
  }
  return chosen.flatMap(({ cards }) =>
    cards.map(({ id, amount_cents }) => ({ gift_card_id: id, amount_cents })),
  )
}

const isWhole = ({ spendable_cents, amount_cents }: BoughtCard): boolean =>
  spendable_cents >= amount_cents

export const spent = (
  items?: { order_item_id: string; requested: number; refundable_quantity: number }[],
) => new ApiError('gift_card_spent', items === undefined ? {} : { body: { items } })

/**
 * Finds what is left on the cards of an order, up to an amount, and locks the cards. It is for money that has
 * already left the store, by a lost dispute or a late refund.
 */
export async function findLeft(tx: Tx, order_id: string, most_cents: number): Promise<CardShare[]> {
  if (most_cents === 0) return []
  let left = most_cents
  const shares = (await queries.lockBought(tx, order_id)).map((card) => {
    const amount_cents = Math.min(left, card.amount_cents, card.spendable_cents)
    left -= amount_cents
    return { gift_card_id: card.id, amount_cents }
  })
  return shares.filter(({ amount_cents }) => amount_cents > 0)
}
