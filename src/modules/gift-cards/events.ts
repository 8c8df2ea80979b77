import { Type } from 'typebox'
import { Nullable } from '../../kernel/schema.ts'
import { defineEvent } from '../webhooks/define-event.ts'
import { GiftCard } from './schema.ts'

const { id, code_last4, initial_balance_cents, currency, expires_at, customer_ref, send_at } =
  GiftCard.properties

/** The event of an issued card. It has neither code, note nor e-mail address. */
export const giftCardIssued = defineEvent('commerce.giftcard.issued.v1', {
  when: 'A gift card was issued: by the merchant, or because an order has bought it. There is one event for each card, never with its code.',
  data: Type.Object({
    gift_card: Type.Object({
      id,
      code_last4,
      initial_balance_cents,
      currency,
      expires_at,
      customer_ref,
      has_recipient: Type.Boolean({
        description: 'Whether the card is mailed to a recipient. The address is not shown.',
      }),
      order_id: Type.Unsafe<string | null>({
        ...Nullable(id),
        description: 'The order that has bought the card, if one has.',
      }),
      send_at,
    }),
  }),
})

export const events = [giftCardIssued]
