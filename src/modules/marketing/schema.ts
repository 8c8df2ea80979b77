import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'
import { Code as ReferralCode } from '../affiliates/schema.ts'

export const COUPON_TYPES = ['percent', 'fixed', 'free_shipping'] as const

export const COUPON_STATUSES = ['draft', 'active', 'paused', 'expired', 'exhausted'] as const

/** `expired` and `exhausted` are never stored: they follow from the time and the uses. */
export const CouponStatus = Type.Enum([...COUPON_STATUSES])
export type CouponStatus = Static<typeof CouponStatus>

const AppliesTo = Type.Object(
  { product_ids: Type.Array(Id), collection_slugs: Type.Array(Type.String()) },
  { description: 'The products that are discounted, by id or collection. Null: all products.' },
)

const couponFields = {
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
  referral_code: Nullable(
    Type.String({
      description: 'The code of the affiliate that orders with the coupon are credited to.',
    }),
  ),
  status: CouponStatus,
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const Coupon = Shared('Coupon', Type.Object(couponFields))
export type Coupon = Static<typeof Coupon>

/** A coupon as a checkout finds it. It is `exhausted` even if only its single-use code is used. */
export const FoundCoupon = Type.Object({
  ...couponFields,
  code_id: Nullable(Id),
  customer_used: Type.Integer(),
})
export type FoundCoupon = Static<typeof FoundCoupon>

/** A found coupon, with the limit of its campaign. */
export interface CheckoutCoupon extends FoundCoupon {
  /** The highest discount that it may give. Null means any amount. */
  budget_left_cents: number | null
}

/**
 * The most products and collections of a coupon: more than a store needs, and few enough that checking it
 * against an order stays fast.
 */
const APPLIES_TO_MAX = 500

/** A code in any script, but without spaces and invisible characters. */
const NO_SPACES = 'must be visible characters without spaces'
const Code = Pattern('^[^\\s\\p{C}]+$', NO_SPACES, { minLength: 1, maxLength: 64 })

/** An amount of money, at most the largest total of an order. */
const Amount = Type.Integer({ minimum: 0, maximum: 100_000_000_000 })

/** The largest number of uses that PostgreSQL's integer counts. */
const Uses = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

const terms = {
  percent_bps: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 10_000 }))),
  amount_cents: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100_000_000_000 }))),
  min_subtotal_cents: Type.Optional(Nullable(Amount)),
  max_discount_cents: Type.Optional(Nullable(Amount)),
  starts_at: Type.Optional(Nullable(Timestamp)),
  ends_at: Type.Optional(Nullable(Timestamp)),
  usage_limit: Type.Optional(Nullable(Uses)),
  usage_limit_per_customer: Type.Optional(Nullable(Uses)),
  first_order_only: Type.Optional(Type.Boolean()),
  applies_to: Type.Optional(
    Nullable(
      Type.Object({
        product_ids: Type.Optional(Type.Array(Id, { maxItems: APPLIES_TO_MAX })),
        collection_slugs: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: APPLIES_TO_MAX }),
        ),
      }),
    ),
  ),
  recurring: Type.Optional(Type.Boolean()),
  referral_code: Type.Optional(Nullable(ReferralCode)),
}

const campaign = {
  campaign_id: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 200,
        description:
          'The campaign it belongs to: it can be used while that is active and its budget lasts. Cannot change once the coupon was used.',
      }),
    ),
  ),
}

export const NewCoupon = Type.Object({
  code: Code,
  type: couponFields.type,
  status: Type.Optional(Type.Enum(['draft', 'active'])),
  ...terms,
  ...campaign,
})
export type NewCoupon = Static<typeof NewCoupon>

/** Code and type cannot change: customers and orders know the coupon by them. */
export const CouponPatch = Type.Object({ ...terms, ...campaign })
export type CouponPatch = Static<typeof CouponPatch>

/** All terms that the merchant sets, as they are stored. */
export type CouponTerms = Omit<
  Coupon,
  'id' | 'code' | 'used_count' | 'campaign_id' | 'status' | 'created_at' | 'updated_at'
>

export const CODES_MAX = 1_000

export const NewCodes = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: CODES_MAX }),
  prefix: Type.Optional(Pattern('^[^\\s\\p{C}]*$', NO_SPACES, { maxLength: 40 })),
})
export type NewCodes = Static<typeof NewCodes>

/** A single-use code, and the order that uses it. */
export const CouponCode = Type.Object({
  code: Type.String(),
  order_id: Nullable(Id),
  created_at: Timestamp,
})

export const Redemption = Type.Object({
  order_id: Id,
  code: Type.String(),
  customer_ref: Type.String(),
  state: Type.Enum(['claimed', 'confirmed', 'released']),
  created_at: Timestamp,
  updated_at: Timestamp,
})
