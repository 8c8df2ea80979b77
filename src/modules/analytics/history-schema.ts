import { type Static, Type } from 'typebox'
import { Id, Nullable, Timestamp } from '../../kernel/schema.ts'

/** What the loop reads to count: journals, and the orders they belong to. */

export const NumberedJournal = Type.Object({
  sequence: Type.Integer(),
  kind: Type.String(),
  order_id: Nullable(Id),
  ref: Nullable(Type.String()),
  currency: Type.String(),
  created_at: Timestamp,
  /** `created_at` in microseconds since 1970. */
  at_us: Type.Integer(),
  sales_cents: Type.Integer(),
  discount_cents: Type.Integer(),
  refund_cents: Type.Integer(),
  tax_payable_cents: Type.Integer(),
  shipping_income_cents: Type.Integer(),
  dispute_loss_cents: Type.Integer(),
})
export type NumberedJournal = Static<typeof NumberedJournal>

export const LineRow = Type.Object({
  id: Id,
  product_id: Id,
  variant_id: Id,
  quantity: Type.Integer(),
  unit_price_cents: Type.Integer(),
  list_price_cents: Type.Integer(),
  /** A gift card is a debt, and no sale. */
  gift_card: Type.Boolean(),
  line_total_cents: Type.Integer(),
  discount_cents: Type.Integer(),
  tax_cents: Type.Integer(),
  shipping_cents: Type.Integer(),
})
export type LineRow = Static<typeof LineRow>

export const LineChange = Type.Object({
  order_item_id: Id,
  change_id: Id,
  quantity: Type.Integer(),
  line_total_cents: Type.Integer(),
  discount_cents: Type.Integer(),
  tax_cents: Type.Integer(),
  shipping_cents: Type.Integer(),
  at_us: Type.Integer(),
})
export type LineChange = Static<typeof LineChange>

export const RefundedItem = Type.Object({
  refund_id: Id,
  order_item_id: Id,
  amount_cents: Type.Integer(),
})
export type RefundedItem = Static<typeof RefundedItem>

/** An order with everything that is needed to divide its journals. */
export const OrderHistory = Type.Object({
  order_id: Id,
  customer_ref: Type.String(),
  is_test: Type.Boolean(),
  prices_include_tax: Type.Boolean(),
  coupon: Type.String(),
  /** Empty where no coupon was used. The code of the coupon may be one of many. */
  coupon_id: Type.String(),
  affiliate: Type.String(),
  source: Type.String(),
  place: Type.String(),
  /** When it was captured. */
  sale_at: Nullable(Timestamp),
  lines: Type.Array(LineRow),
  /** Oldest first. */
  changes: Type.Array(LineChange),
  refund_items: Type.Array(RefundedItem),
})
export type OrderHistory = Static<typeof OrderHistory>

/** The permanent facts of a captured order. */
export const KnownOrder = Type.Object({
  order_id: Id,
  sale_sequence: Type.Integer(),
  sale_at: Timestamp,
  place: Type.String(),
  nth: Type.Integer(),
  first_at: Timestamp,
  previous_at: Nullable(Timestamp),
})
export type KnownOrder = Static<typeof KnownOrder>
