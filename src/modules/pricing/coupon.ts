import { bpsOf, sum } from '../../kernel/money.ts'
import type { Coupon } from '../marketing/schema.ts'

export const COUPON_REASONS = [
  'unknown',
  'expired',
  'not_started',
  'exhausted',
  'per_customer',
  'min_subtotal',
  'not_applicable',
] as const
export type CouponReason = (typeof COUPON_REASONS)[number]

/** What the coupon's limits are held against. */
export interface CouponContext {
  now: Date
  /** How often this customer has used the coupon, claims included. */
  customer_used: number
  /** How many orders this customer has placed before. */
  orders_before: number
  /** The store's, which the amounts of its coupons are in. */
  currency: string
}

/** What the terms look at. A coupon of the marketing module is one. */
export type CouponTerms = Omit<
  Coupon,
  'id' | 'code' | 'recurring' | 'campaign_id' | 'created_at' | 'updated_at'
>

/** What the discount is worked out by. An order keeps it, so that later changes are not for it. */
export type DiscountTerms = Pick<
  CouponTerms,
  | 'type'
  | 'percent_bps'
  | 'amount_cents'
  | 'min_subtotal_cents'
  | 'max_discount_cents'
  | 'applies_to'
>

export interface CouponLine {
  product_id: string
  collection_slugs: readonly string[]
  quantity: number
  line_total_cents: number
}

/** Why a coupon may not be used at all, whatever is bought. A held-back one is as good as unknown. */
export function refuseUse(coupon: CouponTerms, context: CouponContext): CouponReason | null {
  const { status, usage_limit, usage_limit_per_customer } = coupon
  if (status === 'draft' || status === 'paused') return 'unknown'
  if (coupon.starts_at !== null && context.now < new Date(coupon.starts_at)) return 'not_started'
  if (status === 'expired') return 'expired'
  if (coupon.ends_at !== null && context.now >= new Date(coupon.ends_at)) return 'expired'
  if (status === 'exhausted') return 'exhausted'
  if (usage_limit !== null && coupon.used_count >= usage_limit) return 'exhausted'
  if (usage_limit_per_customer !== null && context.customer_used >= usage_limit_per_customer) {
    return 'per_customer'
  }
  // An order that is not placed yet may be the first as well.
  const isLater = context.orders_before > 0 || context.customer_used > 0
  return coupon.first_order_only && isLater ? 'not_applicable' : null
}

/** An amount of one currency is none of another. What has none fits every order. */
export const isForeign = (coupon: DiscountTerms, context: CouponContext, currency: string) =>
  currency !== context.currency &&
  [coupon.amount_cents, coupon.min_subtotal_cents, coupon.max_discount_cents].some(
    (amount) => amount !== null && amount > 0,
  )

export interface Discount {
  reason: CouponReason | null
  /** Off the goods, and off which of them: the weights by which it is split over the lines. */
  discount_cents: number
  weights: number[]
  /** Off the shipping, at most. */
  waived_cents: number
}

/**
 * What a coupon takes off what is bought. The minimum is of the whole order, the discount of the
 * lines that the coupon is for.
 */
export function discountOf(coupon: DiscountTerms, lines: readonly CouponLine[]): Discount {
  const eligible = lines.map((line) => line.quantity > 0 && isEligible(coupon, line))
  const weights = lines.map((line, index) => (eligible[index] ? line.line_total_cents : 0))
  const none = { discount_cents: 0, waived_cents: 0, weights }
  if (!eligible.includes(true)) return { ...none, reason: 'not_applicable' }
  const subtotal = sum(lines.map(({ line_total_cents }) => line_total_cents))
  if (subtotal < (coupon.min_subtotal_cents ?? 0)) return { ...none, reason: 'min_subtotal' }
  const most = coupon.max_discount_cents ?? Number.POSITIVE_INFINITY
  if (coupon.type === 'free_shipping') return { ...none, reason: null, waived_cents: most }
  const base = sum(weights)
  const wanted =
    coupon.type === 'percent' ? bpsOf(base, coupon.percent_bps ?? 0) : (coupon.amount_cents ?? 0)
  return { ...none, reason: null, discount_cents: Math.min(wanted, base, most) }
}

/**
 * The terms as an order keeps them. What they are for is named by the order's own products, so that a
 * collection may be renamed or emptied without taking the discount from who has bought.
 */
export function keptTerms(coupon: DiscountTerms, lines: readonly CouponLine[]): DiscountTerms {
  const { type, percent_bps, amount_cents, min_subtotal_cents, max_discount_cents } = coupon
  const product_ids = new Set(
    lines.filter((line) => isEligible(coupon, line)).map(({ product_id }) => product_id),
  )
  return {
    ...{ type, percent_bps, amount_cents, min_subtotal_cents, max_discount_cents },
    applies_to:
      coupon.applies_to === null ? null : { product_ids: [...product_ids], collection_slugs: [] },
  }
}

function isEligible({ applies_to }: DiscountTerms, line: CouponLine): boolean {
  if (applies_to === null) return true
  return (
    applies_to.product_ids.includes(line.product_id) ||
    line.collection_slugs.some((slug) => applies_to.collection_slugs.includes(slug))
  )
}
