import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, OpenObject, Timestamp } from '../../kernel/schema.ts'

/** The sums of a customer's orders. */
export const CustomerStats = Type.Object({
  customer_ref: Type.String(),
  orders_count: Type.Integer({ minimum: 0 }),
  total_spent_cents: Cents,
  refunded_cents: Cents,
  first_order_at: Nullable(Timestamp),
  last_order_at: Nullable(Timestamp),
})
export type CustomerStats = Static<typeof CustomerStats>

export const SavedAddress = Type.Object({ address: OpenObject, last_used_at: Timestamp })

export const GiftCardUse = Type.Object({
  gift_card_id: Nullable(Id),
  gift_card_last4: Nullable(Type.String()),
  order_id: Id,
  order_number: Type.Integer(),
  amount_cents: Cents,
  currency: Type.String(),
  created_at: Timestamp,
})
