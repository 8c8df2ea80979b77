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

/** The facts that a coupon's limits are checked against. */
export interface CouponContext {
  now: Date
  /** How often this customer has used the coupon, including orders not placed yet. */
  customer_used: number
  /** How many orders this customer has placed before. */
  orders_before: number
  /** The store's currency, in which the amounts of its coupons are. */
  currency: string
}

/** The members of a coupon that decide whether and how it applies. */
export type CouponTerms = Omit<
  Coupon,
  'id' | 'code' | 'recurring' | 'campaign_id' | 'referral_code' | 'created_at' | 'updated_at'
>

/**
 * The terms that the discount is computed from. An order stores them, so that later changes of the
 * coupon do not affect it.
 */
export type DiscountTerms = Pick<
  CouponTerms,
  | 'type'
  | 'percent_bps'
  | 'amount_cents'
  | 'min_subtotal_cents'
  | 'max_discount_cents'
  | 'applies_to'
> & {
  /** What is left of a budget, for a coupon that is about to be used. Absent or null means any amount. */
  budget_left_cents?: number | null
}

export interface CouponLine {
  product_id: string
  collection_slugs: readonly string[]
  quantity: number
  line_total_cents: number
  /** Whether the line buys gift cards. No coupon applies to them, and they do not count towards a minimum. */
  gift_card?: boolean
}

/**
 * Why a coupon cannot be used, whatever the lines are. A draft or paused coupon counts as unknown.
 */
export function couponRefusalOf(coupon: CouponTerms, context: CouponContext): CouponReason | null {
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
  // A use in an order that is not placed yet counts too: that order may become the first.
  const isLater = context.orders_before > 0 || context.customer_used > 0
  return coupon.first_order_only && isLater ? 'not_applicable' : null
}

/**
 * Whether the currency of a coupon's amounts, or of its campaign's budget, is not the order's. A coupon
 * without amounts fits every order.
 */
export const isOtherCurrency = (coupon: DiscountTerms, context: CouponContext, currency: string) =>
  currency !== context.currency &&
  (coupon.budget_left_cents != null ||
    [coupon.amount_cents, coupon.min_subtotal_cents, coupon.max_discount_cents].some(
      (amount) => amount !== null && amount > 0,
    ))

export interface Discount {
  reason: CouponReason | null
  /** The discount on the goods; `weights` split it over the lines that the coupon is for. */
  discount_cents: number
  weights: number[]
  /** The highest discount on the shipping. */
  waived_cents: number
}

/**
 * Computes the discount of a coupon. The minimum is checked against all goods of the order, and the
 * discount is on the lines that the coupon is for.
 */
export function discountOf(coupon: DiscountTerms, lines: readonly CouponLine[]): Discount {
  const eligible = lines.map((line) => line.quantity > 0 && isEligible(coupon, line))
  const weights = lines.map((line, index) => (eligible[index] ? line.line_total_cents : 0))
  const none = { discount_cents: 0, waived_cents: 0, weights }
  if (!eligible.includes(true)) return { ...none, reason: 'not_applicable' }
  const goods = lines.filter(({ gift_card = false }) => !gift_card)
  const subtotal = sum(goods.map(({ line_total_cents }) => line_total_cents))
  if (subtotal < (coupon.min_subtotal_cents ?? 0)) return { ...none, reason: 'min_subtotal' }
  const maximum = coupon.max_discount_cents ?? Number.POSITIVE_INFINITY
  if (coupon.type === 'free_shipping') return { ...none, reason: null, waived_cents: maximum }
  const base = sum(weights)
  const amount =
    coupon.type === 'percent' ? bpsOf(base, coupon.percent_bps ?? 0) : (coupon.amount_cents ?? 0)
  const discount_cents = Math.min(amount, base, maximum)
  if (discount_cents > (coupon.budget_left_cents ?? discount_cents)) {
    return { ...none, reason: 'exhausted' }
  }
  return { ...none, reason: null, discount_cents }
}

/**
 * The terms as an order stores them. `applies_to` names the order's own products, so that a
 * collection may be renamed or emptied without removing the discount from the order.
 */
export function termsForOrder(coupon: DiscountTerms, lines: readonly CouponLine[]): DiscountTerms {
  const { type, percent_bps, amount_cents, min_subtotal_cents, max_discount_cents } = coupon
  const product_ids = new Set(
    lines.filter((line) => isEligible(coupon, line)).map(({ product_id }) => product_id),
  )
  return {
    type,
    percent_bps,
    amount_cents,
    min_subtotal_cents,
    max_discount_cents,
    applies_to:
      coupon.applies_to === null ? null : { product_ids: [...product_ids], collection_slugs: [] },
  }
}

/**
 * Returns the terms that the renewals of one line keep. Each renewal is an order of this line alone. So a fixed
 * amount and a limit of the discount become the share of this line, and the minimum, which was reached once, no
 * longer counts. Returns null if the line had no share of the discount.
 */
export function recurringTerms(
  terms: DiscountTerms,
  line: { product_id: string; discount_cents: number },
): DiscountTerms | null {
  const goods = { collection_slugs: [], quantity: 1, line_total_cents: 0, ...line }
  if (!isEligible(terms, goods)) return null
  const kept = { ...terms, min_subtotal_cents: null }
  if (terms.type === 'free_shipping') return kept
  const share = line.discount_cents
  if (share === 0) return null
  if (terms.type === 'fixed') return { ...kept, amount_cents: share, max_discount_cents: null }
  return { ...kept, max_discount_cents: terms.max_discount_cents === null ? null : share }
}

function isEligible({ applies_to }: DiscountTerms, line: CouponLine): boolean {
  if (line.gift_card) return false
  if (applies_to === null) return true
  return (
    applies_to.product_ids.includes(line.product_id) ||
    line.collection_slugs.some((slug) => applies_to.collection_slugs.includes(slug))
  )
}
