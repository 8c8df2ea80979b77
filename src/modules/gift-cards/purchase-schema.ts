import { type Static, Type } from 'typebox'
import { Cents, Email, Id, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'

/** The gift cards that an order buys. */

/** The most cards of one order: more than a person gives at once, and few enough to issue and mail with the order. */
export const CARDS_PER_ORDER_MAX = 100

/**
 * How far ahead a mail can be chosen: a year and a day, for the next birthday. The card's
 * code waits encrypted so long.
 */
export const SEND_DAYS_MAX = 366

/** The longest name and message. They appear in a mail and nowhere else. */
const NAME_MAX = 200
const MESSAGE_MAX = 1_000

const Name = Pattern('^[^\\p{Cc}\\p{Zl}\\p{Zp}]*$', 'must be one line without control characters', {
  maxLength: NAME_MAX,
})

const Message = Pattern(
  '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$',
  'must not have control characters other than line breaks and tabs',
  { maxLength: MESSAGE_MAX },
)

/** Who gets the gift cards of a line, as a checkout names them. */
export const Recipient = Type.Object({
  recipient_email: Email,
  recipient_name: Type.Optional(Nullable(Name)),
  message: Type.Optional(Nullable(Message)),
  send_on: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 10,
        description:
          "The day on which the mail is sent, `YYYY-MM-DD` in the store's time zone, at most 366 days ahead. Left out: at once.",
      }),
    ),
  ),
})
export type Recipient = Static<typeof Recipient>

/** The gift cards of one line of an order. */
export const GiftCardPurchase = Shared(
  'GiftCardPurchase',
  Type.Object({
    order_item_id: Id,
    quantity: Type.Integer(),
    amount_cents: Type.Integer({ ...Cents, description: 'What each card is worth, in cents.' }),
    recipient_email: Nullable(Type.String({ description: 'Null once erased.' })),
    recipient_name: Nullable(Type.String()),
    message: Nullable(Type.String()),
    send_at: Nullable(
      Type.String({ ...Timestamp, description: 'When they are mailed; null for at once.' }),
    ),
    cards: Type.Array(
      Type.Object({
        gift_card_id: Id,
        code_last4: Type.String(),
        sent_at: Nullable(Timestamp),
      }),
      { description: 'Empty until the order is placed.' },
    ),
  }),
)
export type GiftCardPurchase = Static<typeof GiftCardPurchase>

/** A purchase as it is written at the checkout. */
export interface NewPurchase {
  order_item_id: string
  quantity: number
  amount_cents: number
  for_buyer: boolean
  recipient_email: string
  recipient_name: string | null
  message: string | null
  send_at: string | null
}

/** A purchase whose cards are to be issued. */
export const PurchaseRow = Type.Object({
  order_item_id: Id,
  quantity: Type.Integer(),
  amount_cents: Cents,
  for_buyer: Type.Boolean(),
  recipient_email: Nullable(Type.String()),
  send_at: Nullable(Timestamp),
})

/** A bought card with the amounts that a refund needs. */
export const BoughtCard = Type.Object({
  id: Id,
  order_item_id: Id,
  amount_cents: Type.Integer({ ...Cents, description: 'What was paid for it.' }),
  spendable_cents: Type.Integer(),
  is_sent: Type.Boolean(),
})
export type BoughtCard = Static<typeof BoughtCard>

/** How much of a card a refund takes back. */
export interface CardShare {
  gift_card_id: string
  amount_cents: number
}
