import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, ref } from '../../kernel/schema.ts'
import { PaymentRequest } from '../orders/payment-request-schema.ts'
import { Return } from '../orders/return-schema.ts'
import {
  MerchantOrder,
  OrderCharge,
  OrderItem,
  PricesIncludeTax,
  StorefrontOrder,
} from '../orders/schema.ts'
import { CardInput } from '../payments/card-schema.ts'
import { ItemsBoughtOnce } from './schema.ts'

/** A misspelt member must be refused, not ignored: goods are sent, and money is taken. */
const STRICT = { additionalProperties: false }

/** The most days that a shopper may have to pay: longer than most holidays. The stock is reserved that long. */
const DAYS_MAX = 30
export const DEFAULT_DAYS = 7

export const NewExchange = Type.Object(
  {
    items: ItemsBoughtOnce,
    advance: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'True: the new goods also take the refund of units that are still to come. They are sent at the risk of the merchant.',
      }),
    ),
    shipping_cents: Type.Optional(
      Type.Unsafe<number>({
        ...Cents,
        description: 'What shipping costs the shopper. Left out: nothing.',
      }),
    ),
    expires_in_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: DAYS_MAX,
        default: DEFAULT_DAYS,
        description: 'How long the shopper has to pay what the refund does not cover.',
      }),
    ),
  },
  STRICT,
)
export type NewExchange = Static<typeof NewExchange>

const balance = {
  credit_cents: Type.Unsafe<number>({
    ...Cents,
    description: "How much of the return's refund pays for the order.",
  }),
  amount_due_cents: Type.Unsafe<number>({
    ...Cents,
    description: 'What the shopper is asked to pay. Nothing is charged without the shopper.',
  }),
  remaining_cents: Type.Unsafe<number>({
    ...Cents,
    description: 'What is left of the refund, for a receipt to settle.',
  }),
}

export const ExchangePreview = Type.Object({
  items: Type.Array(
    Type.Object({
      variant_id: Id,
      quantity: Type.Integer(),
      unit_price_cents: Cents,
      line_total_cents: Cents,
      available: Type.Boolean({ description: 'Whether this quantity is in stock now.' }),
    }),
  ),
  subtotal_cents: Cents,
  shipping_cents: Cents,
  tax_cents: Cents,
  total_cents: Cents,
  prices_include_tax: PricesIncludeTax,
  currency: Type.String(),
  ...balance,
})
export type ExchangePreview = Static<typeof ExchangePreview>

export const Exchanged = Type.Object({
  return: ref(Return),
  order: ref(MerchantOrder),
  items: Type.Array(ref(OrderItem)),
  ...balance,
  payment_request: Nullable(ref(PaymentRequest)),
})

export const Payment = Type.Object(
  {
    customer_ref: Type.String({
      maxLength: 200,
      description: "The customer of the order. Another customer's order is a 404.",
    }),
    card: Type.Optional(Nullable(CardInput)),
    payment_token: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 500 }))),
  },
  STRICT,
)
export type Payment = Static<typeof Payment>

export const Paid = Type.Object({
  order: ref(StorefrontOrder),
  charges: Type.Array(ref(OrderCharge)),
  payment_request: ref(PaymentRequest),
})

export const OneRequest = Type.Object({ payment_request: ref(PaymentRequest) })
