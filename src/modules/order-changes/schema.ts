import { type Static, Type } from 'typebox'
import { Amount, Cents, Id, Nullable, ref } from '../../kernel/schema.ts'
import {
  MerchantOrder,
  OrderCharge,
  OrderItem,
  OrderRefund,
  PricesIncludeTax,
  StorefrontOrder,
  Tender,
} from '../orders/schema.ts'
import { CardInput } from '../payments/card-schema.ts'
import { TaxPolicy } from '../pricing/schema.ts'
import { ShippingChange } from '../shipping/schema.ts'

/** Bodies and answers of the routes that change an order. */

const Words = Type.String({ maxLength: 2_000 })

/** An id that may be any text: one that is no id is answered as not found. */
const SomeId = Type.String({ maxLength: 200 })

/** The most lines an order can have. */
const LINES_MAX = 500

/**
 * Refuses unknown members of a refund. A refund without an amount refunds everything, so a
 * misspelt member must not be ignored.
 */
const STRICT = { additionalProperties: false }

export const ShopperRefund = Type.Object(
  {
    charge_id: SomeId,
    amount_cents: Type.Optional(Amount),
    reason: Type.Optional(Nullable(Words)),
  },
  STRICT,
)
export type ShopperRefund = Static<typeof ShopperRefund>

const RefundedUnits = Type.Object(
  { order_item_id: SomeId, quantity: Type.Integer({ minimum: 1, maximum: 1_000_000 }) },
  STRICT,
)

export const MerchantRefund = Type.Object(
  {
    amount_cents: Type.Optional(
      Type.Integer({
        ...Amount,
        description:
          'An amount of what goods, tax and shipping cost. What was paid for gift cards is refunded by `items`, or with all that is left.',
      }),
    ),
    items: Type.Optional(Type.Array(RefundedUnits, { minItems: 1, maxItems: LINES_MAX })),
    shipping_cents: Type.Optional(Cents),
    reason: Type.Optional(Nullable(Words)),
    method: Type.Optional(Type.Enum(['original', 'store_credit'])),
    restock: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'With `items`: the units have not shipped, are not to be shipped any more, and go back to stock. Otherwise they stay open.',
      }),
    ),
  },
  STRICT,
)
export type MerchantRefund = Static<typeof MerchantRefund>

export const RefundPreview = Type.Object({
  amount_cents: Cents,
  product_cents: Cents,
  tax_cents: Cents,
  shipping_cents: Cents,
  gift_card_cents: Type.Integer({
    ...Cents,
    description: 'What was paid for gift cards, which the refund disables.',
  }),
  currency: Type.String(),
  tenders: Type.Array(
    Type.Object({ charge_id: Type.String(), tender: Tender, amount_cents: Cents }),
  ),
  refundable_cents: Type.Integer({ description: 'The amount that can be refunded now, in cents.' }),
  remaining_cents: Type.Integer({
    description: 'The amount that could still be refunded after this refund, in cents.',
  }),
})
export type RefundPreview = Static<typeof RefundPreview>

export const CANCEL_REASONS = [
  'customer',
  'declined',
  'fraud',
  'inventory',
  'staff',
  'other',
  'expired',
] as const
export type CancelReason = (typeof CANCEL_REASONS)[number]

export const ShopperCancel = Type.Object({
  charge_id: Type.Optional(Nullable(SomeId)),
  reason: Type.Optional(Nullable(Words)),
  actor: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
})
export type ShopperCancel = Static<typeof ShopperCancel>

export const MerchantCancel = Type.Object({
  reason: Type.Enum([...CANCEL_REASONS]),
  note: Type.Optional(Nullable(Words)),
  restock: Type.Optional(Type.Boolean({ default: true })),
})
export type MerchantCancel = Static<typeof MerchantCancel>

/** An order whose units that had not shipped are cancelled. */
export const RemainingCancelled = Type.Object({
  order: ref(MerchantOrder),
  items: Type.Array(ref(OrderItem)),
  refund: Nullable(ref(OrderRefund)),
  delta_cents: Type.Integer({ description: 'The refunded amount, as a negative number.' }),
  cancelled: Type.Array(Type.Object({ order_item_id: Id, quantity: Type.Integer() }), {
    description: 'Units that will not be shipped, also those that were refunded before.',
  }),
})

const editFields = {
  edits: Type.Array(
    Type.Object({
      order_item_id: SomeId,
      quantity: Type.Integer({ minimum: 0, maximum: 10_000 }),
    }),
    { minItems: 1, maxItems: LINES_MAX },
  ),
  charge_id: Type.Optional(Nullable(SomeId)),
  ...ShippingChange.properties,
  tax: Type.Optional(Nullable(TaxPolicy)),
}

export const ShopperEdit = Type.Object({
  ...editFields,
  card: Type.Optional(Nullable(CardInput)),
  actor: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
})
export type ShopperEdit = Static<typeof ShopperEdit>

export const MerchantEdit = Type.Object({
  ...editFields,
  charge_card: Type.Optional(
    Type.Boolean({
      description:
        'True: charge a higher total to the stored card. Otherwise a higher total is 402 `card_required`.',
    }),
  ),
})
export type MerchantEdit = Static<typeof MerchantEdit>

const refunds = Type.Array(ref(OrderRefund))
const cancelled = { refunds, already_cancelled: Type.Boolean() }
const edited = {
  items: Type.Array(ref(OrderItem)),
  charge: Nullable(OrderCharge),
  refund: Nullable(OrderRefund),
  delta_cents: Type.Integer({
    description: 'The change of the total in cents: charged if positive, refunded if negative.',
  }),
}

/** The changes that an edit would make. */
export const EditPreview = Type.Object({
  cancels: Type.Boolean({ description: 'True: no unit is left, so that the order is cancelled.' }),
  items: Type.Array(
    Type.Object({
      order_item_id: Id,
      quantity_before: Type.Integer(),
      quantity: Type.Integer(),
      line_total_cents: Cents,
      discount_cents: Cents,
      shipping_cents: Cents,
      tax_cents: Cents,
      available: Type.Boolean({ description: 'Whether the additional units are in stock now.' }),
    }),
  ),
  subtotal_cents: Cents,
  discount_cents: Cents,
  shipping_cents: Cents,
  tax_cents: Cents,
  total_before_cents: Cents,
  total_cents: Cents,
  prices_include_tax: PricesIncludeTax,
  currency: Type.String(),
  delta_cents: Type.Integer({
    description: 'The change of the total in cents: charged if positive, refunded if negative.',
  }),
  settlement: Type.Enum(['none', 'refund', 'charge'], {
    description: 'How the difference would be settled.',
  }),
  tenders: Type.Array(Type.Object({ charge_id: Id, tender: Tender, amount_cents: Cents }), {
    description: 'Where a refund would go.',
  }),
  stored_card: Nullable(
    Type.Object({ brand: Nullable(Type.String()), last4: Nullable(Type.String()) }),
  ),
})
export type EditPreview = Static<typeof EditPreview>

export const ShopperRefunded = Type.Object({
  order: ref(StorefrontOrder),
  refund: ref(OrderRefund),
})
export const MerchantRefunded = Type.Object({ refund: ref(OrderRefund), order: ref(MerchantOrder) })
export const ShopperCancelled = Type.Object({ order: ref(StorefrontOrder), ...cancelled })
export const MerchantCancelled = Type.Object({ order: ref(MerchantOrder), ...cancelled })
export const ShopperEdited = Type.Object({ order: ref(StorefrontOrder), ...edited })
export const MerchantEdited = Type.Object({ order: ref(MerchantOrder), ...edited })

export const DisputeChange = Type.Object({
  outcome: Type.Enum(['opened', 'won', 'lost']),
  amount_cents: Type.Optional(
    Type.Integer({
      ...Cents,
      description:
        'With `lost`: the amount that the bank took, in cents, at most what the cards paid. Default: all that is left of the card charges; it must be sent if nothing is left.',
    }),
  ),
})
export type DisputeChange = Static<typeof DisputeChange>

/** The parts of an amount, by what it was paid for. */
export interface Parts {
  product_cents: number
  tax_cents: number
  shipping_cents: number
  /** The part owed to the holders of gift cards. It is no sale, and is refunded only with the cards. */
  gift_card_cents: number
}
