import type { CouponTerms } from '../../../src/modules/pricing/coupon.ts'
import {
  type BoughtLine,
  type Charges,
  type NewGoods,
  type Priced,
  type PricedGoods,
  type PriceLine,
  priceGoods,
  priceOrder,
  repriceGoods,
} from '../../../src/modules/pricing/price.ts'
import { resolveShipping } from '../../../src/modules/shipping/resolve.ts'
import type { ShippingPolicy } from '../../../src/modules/shipping/schema.ts'

/** What a cart is priced by. */
export interface PriceInput extends NewGoods<PriceLine>, Omit<Charges, 'shipping'> {
  shipping: ShippingPolicy | null
  expedited: boolean
}

const charge = <L extends PriceLine | BoughtLine>(
  goods: PricedGoods<L>,
  { shipping, expedited, tax, tax_override, prices_include_tax }: PriceInput,
): Priced<L> => {
  const resolved = resolveShipping({ sent: { shipping, expedited } }, goods)
  return priceOrder(goods, { shipping: resolved, tax, tax_override, prices_include_tax })
}

/** Prices a cart as a checkout does. */
export const priceCart = (input: PriceInput) => charge(priceGoods(input), input)

/** Prices lines that were bought as an edit does. */
export const repriceCart = <L extends BoughtLine>(
  input: Omit<PriceInput, 'lines'> & { lines: readonly L[] },
) => charge(repriceGoods(input), { ...input, lines: [] })

export const line = (over: Partial<PriceLine> = {}): PriceLine => ({
  variant_id: 'variant-1',
  product_id: 'product-1',
  quantity: 1,
  list_price_cents: 1_000,
  group_prices: [],
  subscription_price_cents: null,
  collection_slugs: [],
  ...over,
})

export const coupon = (over: Partial<CouponTerms> = {}): CouponTerms => ({
  type: 'percent',
  percent_bps: 1_000,
  amount_cents: null,
  min_subtotal_cents: null,
  max_discount_cents: null,
  starts_at: null,
  ends_at: null,
  usage_limit: null,
  usage_limit_per_customer: null,
  used_count: 0,
  first_order_only: false,
  applies_to: null,
  status: 'active',
  ...over,
})

export const fixed = (amount_cents: number, over: Partial<CouponTerms> = {}) =>
  coupon({ type: 'fixed', percent_bps: null, amount_cents, ...over })

export const freeShipping = (over: Partial<CouponTerms> = {}) =>
  coupon({ type: 'free_shipping', percent_bps: null, ...over })

export const order = (over: Partial<PriceInput> = {}): PriceInput => ({
  lines: [line()],
  currency: 'USD',
  subscribe: false,
  coupon: null,
  coupon_context: {
    now: new Date('2026-03-01T12:00:00Z'),
    customer_used: 0,
    orders_before: 0,
    currency: 'USD',
  },
  shipping: null,
  expedited: false,
  tax: null,
  prices_include_tax: false,
  ...over,
})

export const policy = {
  mode: 'flat' as const,
  flat_rate_cents: 500,
  expedited_rate_cents: 1_500,
  max_cents: 1_200,
  free_shipping_threshold_cents: 5_000,
}
