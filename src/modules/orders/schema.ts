import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, OpenObject, ref, Shared, Timestamp } from '../../kernel/schema.ts'
import { GiftCardPurchase } from '../gift-cards/purchase-schema.ts'
import { GatewayName } from '../payments/schema.ts'
import { Fulfillment, Work } from './parcel-schema.ts'
import { PaymentRequest } from './payment-request-schema.ts'
import { Return, Returnable } from './return-schema.ts'
import { FULFILLMENT_STATUSES, ORDER_STATUSES, PAYMENT_STATUSES } from './status-schema.ts'
import { Attestation, OrderTerms, Risk } from './terms-schema.ts'

export const OrderStatus = Type.Enum([...ORDER_STATUSES])
export const PaymentStatus = Type.Enum([...PAYMENT_STATUSES])
export const FulfillmentStatus = Type.Enum([...FULFILLMENT_STATUSES])

const line = Type.String({ minLength: 1, maxLength: 300 })
/** A line of an address that may be empty: many countries have no states, some no postcodes. */
const lineOrEmpty = Type.String({ maxLength: 300 })

/** The address that an order is shipped to, as callers send it. */
export const ShipTo = Type.Object({
  label: line,
  name: Type.Optional(Nullable(line)),
  line1: line,
  line2: Type.Optional(Nullable(Type.String({ maxLength: 300 }))),
  city: line,
  state: lineOrEmpty,
  postal_code: lineOrEmpty,
  country: line,
})
export type ShipTo = Static<typeof ShipTo>

/** The address as answers show it: members that a request may leave out are null here. */
export const ShownShipTo = Type.Object({
  label: Type.String(),
  name: Type.Optional(Nullable(Type.String())),
  line1: Type.String(),
  line2: Nullable(Type.String()),
  city: Type.String(),
  state: Type.String(),
  postal_code: Type.String(),
  country: Type.String(),
})

/**
 * The reason of a hold for which the merchant gave none. Shoppers see it for any hold by a
 * merchant.
 */
export const MERCHANT_HOLD = 'merchant'

export const Hold = Type.Object({
  reason: Type.String(),
  placed_at: Timestamp,
  by: Type.String(),
})

export const PricesIncludeTax = Type.Boolean({
  description:
    'True: the prices have the tax inside. Then `tax_cents` is a part of the total and not added to it: `total = subtotal - discount + shipping`. False: `total = subtotal - discount + shipping + tax`.',
})

export const GiftCardCents = Type.Integer({
  ...Cents,
  description:
    'The part of the subtotal that buys gift cards. It is neither taxed nor discounted, and no gift card or store credit pays for it.',
})

export const TaxRate = Type.Unsafe<number | null>({
  ...Nullable(Type.Integer({ minimum: 0 })),
  description:
    'The rate of the tax in hundredths of a percent. Null where there is none: no tax, or the tax of a provider.',
})

const orderFields = {
  id: Id,
  tenant_ref: Type.String(),
  order_number: Type.Integer(),
  customer_ref: Type.String(),
  person_id: Nullable(Id),
  status: OrderStatus,
  payment_status: PaymentStatus,
  fulfillment_status: FulfillmentStatus,
  hold: Nullable(Hold),
  coupon_code: Nullable(Type.String()),
  subtotal_cents: Cents,
  gift_card_cents: GiftCardCents,
  discount_cents: Cents,
  shipping_cents: Cents,
  tax_cents: Cents,
  total_cents: Cents,
  prices_include_tax: PricesIncludeTax,
  tax_rate_bps: TaxRate,
  currency: Type.String(),
  idempotency_key: Type.String(),
  ship_to: Nullable(ShownShipTo),
  expedited: Type.Boolean(),
  placed_at: Nullable(Timestamp),
  cancelled_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** An order as its shopper sees it. */
export const StorefrontOrder = Shared('StorefrontOrder', Type.Object(orderFields))
export type StorefrontOrder = Static<typeof StorefrontOrder>

/** An order as its merchant sees it. */
export const MerchantOrder = Shared(
  'MerchantOrder',
  Type.Object({
    ...orderFields,
    is_test: Type.Boolean({
      description: 'Set by the operator. Money reports leave out test orders.',
    }),
    email: Nullable(Type.String()),
    source: Type.Enum(['checkout', 'subscription_renewal', 'operator', 'exchange']),
    captured_cents: Cents,
    refunded_cents: Cents,
  }),
)
export type MerchantOrder = Static<typeof MerchantOrder>

export const OrderItem = Shared(
  'OrderItem',
  Type.Object({
    id: Id,
    order_id: Id,
    product_id: Id,
    variant_id: Id,
    product_name: Type.String(),
    sku: Type.String(),
    quantity: Type.Integer(),
    unit_price_cents: Cents,
    line_total_cents: Cents,
    label: Nullable(Type.String()),
    discount_cents: Cents,
    tax_cents: Cents,
    shipping_cents: Cents,
    is_subscription: Type.Boolean(),
    gift_card: Type.Boolean({
      description: 'Gift cards: issued when the order is placed, and never packed or returned.',
    }),
    refunded_quantity: Type.Integer(),
    packed_quantity: Type.Integer({ description: 'Units in parcels that are not yet shipped.' }),
    shipped_quantity: Type.Integer(),
    delivered_quantity: Type.Integer(),
    returning_quantity: Type.Integer({
      description: 'Units in returns that are expected and have not come back.',
    }),
    returned_quantity: Type.Integer({ description: 'Units that have come back.' }),
    restocked_quantity: Type.Integer({
      description: 'Units that were refunded before they shipped, and are not shipped any more.',
    }),
  }),
)
export type OrderItem = Static<typeof OrderItem>

export const Tender = Type.Enum(['store_credit', 'gift_card', 'card'])
export type Tender = Static<typeof Tender>

export const ChargeStatus = Type.Enum(['pending', 'authorized', 'captured', 'voided', 'failed'])

/** A charge: what one tender pays of an order. */
export const OrderCharge = Shared(
  'OrderCharge',
  Type.Object({
    charge_id: Id,
    tender: Tender,
    amount_cents: Cents,
    captured_cents: Cents,
    refunded_cents: Cents,
    currency: Type.String(),
    status: ChargeStatus,
    card: Nullable(Type.Object({ brand: Nullable(Type.String()), last4: Nullable(Type.String()) })),
    gift_card_last4: Nullable(Type.String()),
  }),
)
export type OrderCharge = Static<typeof OrderCharge>

/** A charge with the columns that are not shown. */
export const ChargeRow = Type.Object({
  ...OrderCharge.properties,
  order_id: Id,
  gateway: Nullable(GatewayName),
  txn_id: Nullable(Type.String()),
  vault_id: Nullable(Type.String()),
  gift_card_id: Nullable(Id),
  card_fingerprint: Nullable(Type.String()),
  /** The charge of another order that the money comes from, by an exchange. */
  moved_from: Nullable(Id),
})
export type ChargeRow = Static<typeof ChargeRow>

/** An order with all its facts, read under its lock where it is to be changed. */
export const OrderRow = Type.Object({
  ...MerchantOrder.properties,
  ip: Nullable(Type.String()),
  customer_name: Nullable(Type.String()),
  referral_code: Nullable(Type.String()),
  pricing: OrderTerms,
  risk: Risk,
  /** The subscription and the cycle that a renewal charges. */
  subscription_id: Nullable(Id),
  subscription_cycle: Nullable(Type.Integer()),
  payment: Type.Enum([
    'none',
    'pending',
    'requested',
    'unknown',
    'authorized',
    'captured',
    'failed',
  ]),
  payment_failure: Nullable(Type.String()),
  processing_at: Nullable(Timestamp),
  disputed: Type.Boolean(),
  /** An edit, a cancellation or a release is in progress. */
  busy: Type.Boolean(),
  /** The plan of that operation, by which another process can end it. */
  operation: Nullable(OpenObject),
  /** The units of goods. Gift cards are counted separately. */
  q_ordered: Type.Integer(),
  q_gift_cards: Type.Integer(),
  q_cancelled: Type.Integer(),
  q_packed: Type.Integer(),
  q_shipped: Type.Integer(),
  q_delivered: Type.Integer(),
  q_returning: Type.Integer(),
  q_returned: Type.Integer(),
  q_refunded: Type.Integer(),
})
export type OrderRow = Static<typeof OrderRow>

/** An order of the pick queue. */
export const OrderWithWork = Type.Object({
  order_id: Id,
  order_number: Type.Integer(),
  placed_at: Nullable(Timestamp),
  created_at: Timestamp,
  ship_to: Nullable(ShownShipTo),
  expedited: Type.Boolean(),
})

/** The filters of the pick queue. */
export interface WorkFilters {
  location_id: string | undefined
}

/** An order with its lines and charges. */
export interface WholeOrder {
  order: OrderRow
  items: OrderItem[]
  charges: ChargeRow[]
}

/**
 * An order as its checkout wrote it, with the version of its row. While the row has this version,
 * it need not be read again.
 */
export interface WaitingOrder extends WholeOrder {
  version: string
}

/** Notes and entries of the timeline that an order is shown with: more than people write. */
export const SHOWN_MAX = 1_000

export const TimelineEntry = Shared(
  'OrderTimelineEntry',
  Type.Object({ type: Type.String(), actor: Type.String(), at: Timestamp, data: OpenObject }),
)
export type TimelineEntry = Static<typeof TimelineEntry>

export const Note = Shared(
  'OrderNote',
  Type.Object({ id: Id, note: Type.String(), actor: Type.String(), created_at: Timestamp }),
)
export type Note = Static<typeof Note>

const refundTender = {
  charge_id: Id,
  tender: Type.Unsafe<Tender>({
    ...Tender,
    description:
      'Where the money went: back to the tender that paid, or to store credit if that tender cannot take it.',
  }),
  amount_cents: Cents,
}

/** A refund: money that is returned to a shopper. */
export const OrderRefund = Shared(
  'OrderRefund',
  Type.Object({
    refund_id: Id,
    order_id: Id,
    kind: Type.Enum(['refund', 'adjustment'], {
      description:
        '`adjustment`: the refund of an edit. It lowers the total and does not count as refunded.',
    }),
    status: Type.Enum(['pending', 'succeeded', 'failed']),
    method: Type.Enum(['original', 'store_credit', 'exchange'], {
      description:
        '`exchange`: the money pays for the order of an exchange, or comes back from it. `tenders` are those that had paid.',
    }),
    amount_cents: Cents,
    // The parts of an adjustment may be negative: a discount that the edit ends reduces the refund.
    product_cents: Type.Integer(),
    tax_cents: Type.Integer(),
    shipping_cents: Type.Integer(),
    gift_card_cents: Type.Integer({
      ...Cents,
      description: 'What was paid for gift cards, which are disabled now.',
    }),
    currency: Type.String(),
    reason: Nullable(Type.String()),
    created_at: Timestamp,
    settled_at: Nullable(Timestamp),
    tenders: Type.Array(Type.Object(refundTender)),
    items: Type.Array(
      Type.Object({
        order_item_id: Id,
        quantity: Type.Integer(),
        amount_cents: Cents,
        restocked_quantity: Type.Integer({
          description: 'Units that had not shipped, and went back to stock.',
        }),
      }),
    ),
  }),
)
export type OrderRefund = Static<typeof OrderRefund>

/** A refund with its actor and its attempts, which are not shown. */
export const RefundRow = Type.Object({
  ...OrderRefund.properties,
  actor: Type.String(),
  tenders: Type.Array(
    Type.Object({
      ...refundTender,
      status: Type.Enum(['pending', 'succeeded', 'failed']),
      attempt_id: Nullable(Id),
    }),
  ),
})
export type RefundRow = Static<typeof RefundRow>

const GiftCards = Type.Array(ref(GiftCardPurchase), {
  description: 'The gift cards that the order buys, line by line.',
})

const OrderExchange = Type.Object({
  return_id: Id,
  order_id: Type.Unsafe<string>({ ...Id, description: 'The returned order.' }),
  advance: Type.Boolean(),
  credit_cents: Cents,
})
export type OrderExchange = Static<typeof OrderExchange>

/** One order as its merchant sees it. */
export const OrderDetail = Type.Object({
  order: ref(MerchantOrder),
  items: Type.Array(ref(OrderItem)),
  customer_name: Nullable(Type.String()),
  charges: Type.Array(ref(OrderCharge)),
  refunds: Type.Array(ref(OrderRefund)),
  fulfillments: Type.Array(ref(Fulfillment)),
  open: Type.Array(ref(Work), { description: 'What is still to be packed, by location.' }),
  returns: Type.Array(ref(Return)),
  gift_cards: GiftCards,
  exchange: Type.Unsafe<OrderExchange | null>({
    ...Nullable(OrderExchange),
    description: 'For the order of an exchange: the return that it takes its money from.',
  }),
  payment_request: Nullable(ref(PaymentRequest)),
  timeline: Type.Array(ref(TimelineEntry), {
    description: 'The newest 1,000 entries, oldest first. The route of the timeline has all.',
  }),
  notes: Type.Array(ref(Note), { description: 'The newest 1,000, oldest first.' }),
  attestation: Nullable(
    Type.Object(Attestation.properties, {
      description:
        'The statement that the shopper accepted at the checkout, as the storefront sent it.',
    }),
  ),
})

/** One order as its shopper sees it. */
export const ShopperDetail = Type.Object({
  order: ref(StorefrontOrder),
  items: Type.Array(ref(OrderItem)),
  charges: Type.Array(ref(OrderCharge)),
  refunds: Type.Array(ref(OrderRefund)),
  fulfillments: Type.Array(ref(Fulfillment)),
  returns: Type.Array(ref(Return)),
  gift_cards: GiftCards,
  returnable: Type.Array(Returnable, {
    description: 'What the shopper can send back, line by line, and if nothing, why.',
  }),
  payment_request: Type.Unsafe<PaymentRequest | null>({
    ...Nullable(ref(PaymentRequest)),
    description: 'What the shopper is asked to pay, by `POST .../orders/{orderId}/pay`.',
  }),
})

export const NewNote = Type.Object({ note: Type.String({ minLength: 1, maxLength: 5_000 }) })

export const NewHold = Type.Object({
  reason: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 200 }))),
})

/** Facts of an order to change. A fact that is left out does not change. */
export interface FactChange {
  payment?: string
  payment_failure?: string | null
  captured_cents?: number
  refunded_cents?: number
  placed_at?: string | null
  processing_at?: string | null
  cancelled_at?: string | null
  cancel_reason?: string | null
  disputed_at?: string | null
  hold?: { reason: string; by: string; at: string } | null
}

export type UnitCounter =
  | 'packed'
  | 'shipped'
  | 'delivered'
  | 'returning'
  | 'returned'
  | 'restocked'

/** By how much the counters of a line change. */
export interface UnitChange extends Partial<Record<UnitCounter, number>> {
  order_item_id: string
}

export interface NewCharge {
  charge_id: string
  tender: Tender
  amount_cents: number
  currency: string
  gateway?: ChargeRow['gateway']
  card_brand?: string | null
  card_last4?: string | null
  card_fingerprint?: string | null
  gift_card_id?: string | null
  gift_card_last4?: string | null
  moved_from?: string | null
}

export interface NewEntry {
  type: string
  actor: string
  data?: Record<string, unknown>
}
