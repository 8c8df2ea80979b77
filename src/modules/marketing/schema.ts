import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const COUPON_TYPES = ['percent', 'fixed', 'free_shipping'] as const

export const COUPON_STATUSES = ['draft', 'active', 'paused', 'expired', 'exhausted'] as const

/** The last two are never stored: time and use make them. */
export const CouponStatus = Type.Enum([...COUPON_STATUSES])
export type CouponStatus = Static<typeof CouponStatus>

const AppliesTo = Type.Object(
  { product_ids: Type.Array(Id), collection_slugs: Type.Array(Type.String()) },
  { description: 'The products, by id or collection, that are discounted. Null: all of them.' },
)

const kept = {
  id: Id,
  code: Type.String(),
  type: Type.Enum([...COUPON_TYPES]),
  percent_bps: Nullable(Type.Integer()),
  amount_cents: Nullable(Cents),
  min_subtotal_cents: Nullable(Cents),
  max_discount_cents: Nullable(Cents),
  starts_at: Nullable(Timestamp),
  ends_at: Nullable(Timestamp),
  usage_limit: Nullable(Type.Integer()),
  usage_limit_per_customer: Nullable(Type.Integer()),
  used_count: Type.Integer(),
  first_order_only: Type.Boolean(),
  applies_to: Nullable(AppliesTo),
  recurring: Type.Boolean({ description: 'Whether renewals of a subscription keep the discount.' }),
  campaign_id: Nullable(Id),
  status: CouponStatus,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Coupon = Shared('Coupon', Type.Object(kept))
export type Coupon = Static<typeof Coupon>
