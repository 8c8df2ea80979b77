import { type Static, Type } from 'typebox'
import { Cents, CustomerRef, Email, Id, Nullable, ref } from '../../kernel/schema.ts'
import { Recipient } from '../gift-cards/purchase-schema.ts'
import {
  GiftCardCents,
  OrderCharge,
  OrderItem,
  PricesIncludeTax,
  ShipTo,
  StorefrontOrder,
  TaxRate,
} from '../orders/schema.ts'
import { Attestation, Changed } from '../orders/terms-schema.ts'
import { CardInput } from '../payments/card-schema.ts'
import { TaxPolicy } from '../pricing/schema.ts'
import { ShippingTerms } from '../shipping/schema.ts'
import { Interval, StartedSubscription } from '../subscriptions/schema.ts'

/** More lines than a cart has, and few enough to price, reserve and write in one transaction. */
const ITEMS_MAX = 500

const item = {
  variant_id: Type.String({ maxLength: 64 }),
  quantity: Type.Integer({ minimum: 1, maximum: 10_000 }),
  gift_card: Type.Optional(
    Type.Unsafe<Recipient | null>({
      ...Nullable(Recipient),
      description:
        'For a variant that is a gift card: who gets the cards of this line, one for each unit. Left out: they are mailed to `email` at once.',
    }),
  ),
}

const listOfItems = { minItems: 1, maxItems: ITEMS_MAX }

const Items = Type.Array(
  Type.Object({
    ...item,
    subscribe: Type.Optional(
      Type.Boolean({
        description:
          'Whether this line is bought again and again: it wins over `subscribe` of the whole order. Left out, that one counts. Refused as true for what cannot be subscribed to.',
      }),
    ),
  }),
  listOfItems,
)

/** The items that an exchange sends instead: never a subscription. */
export const ItemsBoughtOnce = Type.Array(Type.Object(item), listOfItems)

const policies = {
  coupon_code: Type.Optional(Nullable(Type.String({ maxLength: 256 }))),
  ...ShippingTerms.properties,
  tax: Type.Optional(Nullable(TaxPolicy)),
}

/** The tenders beside a card. A preview says what they pay. */
const tenders = {
  apply_store_credit: Type.Optional(Type.Boolean()),
  gift_card_code: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
}

export const CheckoutRequest = Type.Object({
  customer_ref: CustomerRef,
  items: Items,
  person_id: Type.Optional(Nullable(Id)),
  // Any value: a value that is not a code is ignored, and is never an error.
  referral_code: Type.Optional(Type.Unknown()),
  /** When the link with the code was followed, as `touchReferral` has signed it. */
  referral_touch: Type.Optional(Type.Unknown()),
  /** The browser of a shopper who applied as an affiliate, or opened the page of one. */
  device_ref: Type.Optional(Type.Unknown()),
  card: Type.Optional(Nullable(CardInput)),
  payment_token: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  ...tenders,
  subscribe: Type.Optional(Type.Boolean()),
  shipping_address: Type.Optional(Nullable(ShipTo)),
  email: Type.Optional(Nullable(Email)),
  name: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 300,
        description: "The shopper's name. Without it the customer has the name of the address.",
      }),
    ),
  ),
  ip: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
  attestation: Type.Optional(Nullable(Attestation)),
  quote_token: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  ...policies,
})
export type CheckoutRequest = Static<typeof CheckoutRequest>

export const PreviewRequest = Type.Object({
  items: Items,
  // Empty or absent: a guest, who pays list prices.
  customer_ref: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  ip: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 64,
        description: "The shopper's address: wrong coupon codes are limited by it.",
      }),
    ),
  ),
  email: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 320,
        description:
          'What the shopper has entered so far. Kept only where the store reminds of unfinished checkouts; what is no address is ignored.',
      }),
    ),
  ),
  subscribe: Type.Optional(Type.Boolean()),
  shipping_address: Type.Optional(
    Type.Unsafe<ShipTo | null>({
      ...Nullable(ShipTo),
      description:
        'Where the order is sent: what depends on it is quoted for it. Send it as soon as the shopper has entered it.',
    }),
  ),
  ...tenders,
  ...policies,
})
export type PreviewRequest = Static<typeof PreviewRequest>

export const Preview = Type.Object({
  items: Type.Array(
    Type.Object({
      variant_id: Id,
      quantity: Type.Integer(),
      unit_price_cents: Cents,
      list_price_cents: Cents,
      line_total_cents: Cents,
      available: Type.Boolean({ description: 'Whether this quantity is in stock now.' }),
    }),
  ),
  subtotal_cents: Cents,
  gift_card_cents: GiftCardCents,
  discount_cents: Cents,
  shipping_cents: Cents,
  tax_cents: Cents,
  total_cents: Cents,
  prices_include_tax: PricesIncludeTax,
  tax_rate_bps: TaxRate,
  currency: Type.String(),
  coupon: Type.Object({
    code: Nullable(Type.String()),
    applied: Type.Boolean(),
    reason: Nullable(Type.String()),
  }),
  store_credit_available_cents: Cents,
  free_shipping_remaining_cents: Nullable(Cents),
  address_required: Type.Boolean({
    description:
      'True: the tax depends on the address, and the request has none. `tax_cents` and `total_cents` may change with it, so send `shipping_address`.',
  }),
  tenders: Type.Array(
    Type.Object({
      tender: Type.Enum(['store_credit', 'gift_card']),
      amount_cents: Cents,
      gift_card_last4: Nullable(Type.String()),
    }),
    { description: 'What store credit and the gift card of the request would pay, in this order.' },
  ),
  amount_due_cents: Type.Integer({
    minimum: 0,
    description: 'What is left for a card.',
  }),
  renewals: Type.Array(
    Type.Object({
      variant_id: Id,
      quantity: Type.Integer(),
      interval: Interval,
      interval_count: Type.Integer(),
      amount_cents: Cents,
      is_estimate: Type.Optional(
        Type.Literal(true, {
          description: 'Present where a tax provider computes the tax when the charge is made.',
        }),
      ),
    }),
    {
      description:
        'What the card is charged again for each line that is subscribed to, with shipping, tax and a coupon that recurs. The dates are counted from the day of the order.',
    },
  ),
  quote_token: Type.String({
    description:
      'Send it with the checkout within ten minutes: the order is then placed only at this total, otherwise the answer is 409 `price_changed`. While `address_required` is true it binds the items, discounts and shipping; the tax is worked out for the address of the checkout, whose answer says in `changed` what differs.',
  }),
})
export type Preview = Static<typeof Preview>

export const FraudAnswer = Type.Object({ decision: Type.Enum(['accepted', 'review']) })

export const CheckoutAnswer = Type.Object({
  order: ref(StorefrontOrder),
  items: Type.Array(ref(OrderItem)),
  charges: Type.Array(ref(OrderCharge)),
  subscriptions: Type.Array(StartedSubscription),
  amount_due_cents: Cents,
  changed: Type.Optional(
    Type.Unsafe<Changed>({
      ...Changed,
      description:
        'Present if the figures differ from those of `quote_token`, whose preview did not have the address (`address_required`).',
    }),
  ),
  fraud: FraudAnswer,
})

/** The answer of an order that is held for review. */
export const HeldAnswer = Type.Object(CheckoutAnswer.properties, {
  'x-response-description':
    'Accepted and `on_hold` until the merchant has reviewed it. The card is at most authorised; it is captured at the release.',
})
