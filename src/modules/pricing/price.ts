import { allocate, bpsOf, shareOfPart, sum, taxInside, unitShare } from '../../kernel/money.ts'
import type { ResolvedShipping } from '../shipping/resolve.ts'
import {
  type CouponContext,
  type CouponReason,
  type CouponTerms,
  couponRefusalOf,
  type Discount,
  type DiscountTerms,
  discountOf,
  isOtherCurrency,
} from './coupon.ts'
import type { GroupPrice } from './schema.ts'

/** The most units of one variant: more than a store sells at once, and few enough that sums stay exact. */
export const LINE_QUANTITY_MAX = 10_000

/** The highest total of an order: a thousand million of any currency with cents. A larger amount is a typing error. */
export const ORDER_CENTS_MAX = 100_000_000_000

/** Thrown for an order beyond a limit. The caller translates it into its own error code. */
export class PriceLimitError extends Error {
  readonly limit: 'line_quantity' | 'shipping' | 'tax' | 'order_total'
  constructor(limit: PriceLimitError['limit']) {
    super(`the order is beyond the limit of ${limit}`)
    this.name = 'PriceLimitError'
    this.limit = limit
  }
}

interface Goods {
  variant_id: string
  product_id: string
  quantity: number
  list_price_cents: number
  collection_slugs: readonly string[]
  /**
   * Whether the goods are gift cards. They cost what they are worth: no discount, tax or shipping applies to them
   * (decision 0040).
   */
  gift_card?: boolean
}

/** One line of a new order, with every price that may apply to it. */
export interface PriceLine extends Goods {
  group_prices: readonly GroupPrice[]
  /** Null if the product cannot be subscribed to, or has no subscription price. */
  subscription_price_cents: number | null
  /** The price at which a subscription was sold. It holds whatever the other prices are. */
  locked_price_cents?: number | null
}

/** One line of a placed order, at the price it was bought for. */
export interface BoughtLine extends Goods {
  unit_price_cents: number
}

/** The goods of a placed order, with its coupon. */
export interface BoughtGoods<L extends BoughtLine> {
  lines: readonly L[]
  currency: string
  /** `unknown`: the shopper typed a code that no coupon has. */
  coupon: DiscountTerms | 'unknown' | null
}

/** The goods of a new order, with the coupon that its shopper has typed. */
export interface NewGoods<L extends PriceLine> {
  lines: readonly L[]
  currency: string
  subscribe: boolean
  coupon: CouponTerms | 'unknown' | null
  coupon_context: CouponContext
}

/** The goods of an order with their prices and discounts: what its shipping and its tax go by. */
export interface PricedGoods<L> {
  lines: (L & { unit_price_cents: number; line_total_cents: number })[]
  currency: string
  subtotal_cents: number
  /** The part of the subtotal that buys gift cards. */
  gift_card_cents: number
  /** The price of the goods after the discount, without gift cards. */
  goods_cents: number
  coupon: Discount & { applied: boolean }
}

/** What an order costs beside its goods. */
export interface Charges {
  shipping: Pick<ResolvedShipping, 'cents' | 'missing_for_free_cents'>
  tax: { rate_bps: number } | null
  /** The tax that a provider has computed, which replaces the rate. */
  tax_override?: number | undefined
  /** Whether the prices, of goods and of shipping, have the tax inside. */
  prices_include_tax: boolean
}

export interface LineShares {
  unit_price_cents: number
  line_total_cents: number
  discount_cents: number
  tax_cents: number
  shipping_cents: number
}

export interface Priced<L> {
  lines: (L & LineShares)[]
  currency: string
  subtotal_cents: number
  /** The part of the subtotal that buys gift cards. */
  gift_card_cents: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  total_cents: number
  coupon: { applied: boolean; reason: CouponReason | null }
  /** Null if no amount makes shipping free. */
  free_shipping_remaining_cents: number | null
}

/** Prices the goods of a new order, before `resolveShipping` says what their shipping costs. */
export function priceGoods<L extends PriceLine>(input: NewGoods<L>): PricedGoods<L> {
  if (input.lines.some(({ quantity }) => quantity === 0)) throw new PriceLimitError('line_quantity')
  const quantities = quantitiesOf(input.lines)
  const lines = input.lines.map((line) => ({
    ...line,
    unit_price_cents: unitPrice(line, quantities.get(line.variant_id) ?? 0, input.subscribe),
  }))
  return discountGoods({ ...input, lines }, refusalOf(input))
}

function refusalOf({ coupon, coupon_context: context, currency }: NewGoods<PriceLine>) {
  if (coupon === null || coupon === 'unknown') return null
  const refusal = couponRefusalOf(coupon, context)
  return refusal ?? (isOtherCurrency(coupon, context, currency) ? 'not_applicable' : null)
}

/**
 * Prices the goods of an order after an edit. Unit prices stay as they were bought. The order has used the
 * coupon already, so its period and its limits are not checked again: only the edited lines can end
 * it.
 */
export function repriceGoods<L extends BoughtLine>(bought: BoughtGoods<L>): PricedGoods<L> {
  quantitiesOf(bought.lines)
  return discountGoods(bought, null)
}

/** Sums the units of each variant over all lines. The limit of one line applies to the sum. */
function quantitiesOf(lines: readonly Goods[]): Map<string, number> {
  const quantities = new Map<string, number>()
  for (const { variant_id, quantity } of lines) {
    const all = (quantities.get(variant_id) ?? 0) + quantity
    if (all > LINE_QUANTITY_MAX) throw new PriceLimitError('line_quantity')
    quantities.set(variant_id, all)
  }
  return quantities
}

/** The lowest of all prices that apply, so that no customer pays more for being in a group. */
export function unitPrice(
  line: Pick<PriceLine, 'list_price_cents' | 'group_prices' | 'subscription_price_cents'> &
    Partial<Pick<PriceLine, 'gift_card' | 'locked_price_cents'>>,
  quantity: number,
  subscribe: boolean,
): number {
  if (line.gift_card) return line.list_price_cents
  if (line.locked_price_cents != null) return line.locked_price_cents
  const group = line.group_prices
    .filter(({ min_quantity }) => quantity >= min_quantity)
    .map(({ price_cents }) => price_cents)
  const subscription =
    subscribe && line.subscription_price_cents !== null ? [line.subscription_price_cents] : []
  return Math.min(line.list_price_cents, ...group, ...subscription)
}

function discountGoods<L extends BoughtLine>(
  { lines: bought, currency, coupon: used }: BoughtGoods<L>,
  refusal: CouponReason | null,
): PricedGoods<L> {
  const lines = bought.map((line) => ({ ...line, line_total_cents: lineTotal(line) }))
  const subtotal_cents = requireInBounds(sum(lines.map((line) => line.line_total_cents)))
  const gift_card_cents = subtotal_cents - sum(totalsOfGoods(lines))
  const coupon = couponDiscount(used, lines, refusal)
  return {
    lines,
    currency,
    subtotal_cents,
    gift_card_cents,
    goods_cents: subtotal_cents - gift_card_cents - coupon.discount_cents,
    coupon: { ...coupon, applied: used !== null && coupon.reason === null },
  }
}

/** What each line costs before the discount. A line of gift cards counts as nothing. */
const totalsOfGoods = (lines: readonly { gift_card?: boolean; line_total_cents: number }[]) =>
  lines.map(({ gift_card, line_total_cents }) => (gift_card ? 0 : line_total_cents))

/**
 * Prices an order by its goods, shipping and tax: the one function behind preview, checkout, edits and renewals. The
 * amounts of the lines add up to those of the order, to the cent, and do not depend on how the lines are sorted.
 */
export function priceOrder<L extends Goods>(
  goods: PricedGoods<L>,
  { shipping, ...taxing }: Charges,
): Priced<L> {
  const { lines, currency, subtotal_cents, gift_card_cents, goods_cents, coupon } = goods
  const { discount_cents, applied, reason } = coupon
  const { prices_include_tax } = taxing
  const ofGoods = totalsOfGoods(lines)
  const empty = lines.every(({ quantity, gift_card }) => gift_card || quantity === 0)
  const rate = requireInBounds(shipping.cents, 'shipping')
  const shipping_cents = rate - Math.min(rate, coupon.waived_cents)
  const tax_cents = empty
    ? 0
    : requireInBounds(taxCents(taxing, goods_cents, shipping_cents), 'tax')
  if (prices_include_tax && tax_cents > goods_cents + shipping_cents) {
    throw new PriceLimitError('tax')
  }
  const paid_cents = subtotal_cents - discount_cents + shipping_cents
  const missing = shipping.missing_for_free_cents

  const split = splitter(lines)
  const discounts = split(discount_cents, coupon.weights)
  const net = ofGoods.map((total, at) => total - (discounts[at] ?? 0))
  const shippings = split(shipping_cents, ofGoods)
  const paid = net.map((cents, at) => cents + (shippings[at] ?? 0))
  const taxes = split(tax_cents, prices_include_tax ? paid : net)
  return {
    lines: lines.map((line, at) => ({
      ...line,
      discount_cents: discounts[at] ?? 0,
      tax_cents: taxes[at] ?? 0,
      shipping_cents: shippings[at] ?? 0,
    })),
    currency,
    subtotal_cents,
    gift_card_cents,
    discount_cents,
    shipping_cents,
    tax_cents,
    total_cents: requireInBounds(paid_cents + (prices_include_tax ? 0 : tax_cents)),
    coupon: { applied, reason },
    free_shipping_remaining_cents: missing !== null && shipping_cents === 0 ? 0 : missing,
  }
}

function couponDiscount(
  coupon: DiscountTerms | 'unknown' | null,
  lines: readonly (Goods & { line_total_cents: number })[],
  refusal: CouponReason | null,
): Discount {
  const none = { discount_cents: 0, waived_cents: 0, weights: lines.map(() => 0) }
  if (coupon === null) return { ...none, reason: null }
  if (coupon === 'unknown') return { ...none, reason: 'unknown' }
  return refusal === null ? discountOf(coupon, lines) : { ...none, reason: refusal }
}

/**
 * Returns the tax. A rate applies to the goods; tax inside is also worked out inside the price of the shipping. Where
 * the tax is added, only a provider taxes the shipping.
 */
function taxCents(
  { tax, tax_override, prices_include_tax }: Omit<Charges, 'shipping'>,
  goods_cents: number,
  shipping_cents: number,
): number {
  if (tax_override !== undefined) return tax_override
  const rate_bps = tax?.rate_bps ?? 0
  return prices_include_tax
    ? taxInside(goods_cents + shipping_cents, rate_bps)
    : bpsOf(goods_cents, rate_bps)
}

/**
 * Returns a function that splits an amount of the order over its goods, by weights or, if those are
 * all 0, by quantity. Ties are decided by variant and not by place, so that a line's share does not
 * depend on how they are sorted.
 */
function splitter(lines: readonly (BoughtLine & { line_total_cents: number })[]) {
  const places = lines.map((_, place) => place).sort(byLine(lines))
  const quantities = lines.map(({ quantity, gift_card }) => (gift_card ? 0 : quantity))
  return (cents: number, weights: readonly number[]): number[] => {
    const used = weights.some((weight) => weight > 0) ? weights : quantities
    const sorted = places.map((place) => used[place] ?? 0)
    const shares = lines.map(() => 0)
    for (const [index, share] of allocate(cents, sorted).entries()) {
      shares[places[index] ?? 0] = share
    }
    return shares
  }
}

const byLine = (lines: readonly BoughtLine[]) => (a: number, b: number) => {
  const [one, other] = [lines[a], lines[b]]
  if (one === undefined || other === undefined) return 0
  if (one.variant_id !== other.variant_id) return one.variant_id < other.variant_id ? -1 : 1
  return one.unit_price_cents - other.unit_price_cents || one.quantity - other.quantity
}

function lineTotal({ quantity, unit_price_cents }: BoughtLine): number {
  if (!Number.isSafeInteger(quantity) || quantity < 0 || quantity > LINE_QUANTITY_MAX) {
    throw new PriceLimitError('line_quantity')
  }
  return requireInBounds(requireInBounds(unit_price_cents) * quantity)
}

/** Checks every intermediate amount, so that no sum of them can be inexact. */
function requireInBounds(cents: number, limit: PriceLimitError['limit'] = 'order_total'): number {
  if (!Number.isSafeInteger(cents) || cents < 0 || cents > ORDER_CENTS_MAX) {
    throw new PriceLimitError(limit)
  }
  return cents
}

/** Returns the currency of all lines, or null if they differ or there are none. */
export function singleCurrency(lines: readonly { currency: string }[]): string | null {
  const currencies = new Set(lines.map(({ currency }) => currency))
  const [first = null] = currencies
  return currencies.size === 1 ? first : null
}

/** The totals of an order as it stores them. */
export interface StoredTotals {
  subtotal_cents: number
  gift_card_cents?: number
  discount_cents: number
  shipping_cents: number
  tax_cents: number
  prices_include_tax: boolean
}

/**
 * Divides an order's total into parts without tax, and the tax: `sales - discount + shipping + tax + gift cards` is
 * the total, whether the tax is inside the prices or on top of them. Tax inside is in the goods and in the shipping by
 * what they cost. The discount does not change.
 */
export function withoutTax(totals: StoredTotals) {
  const { subtotal_cents, discount_cents, shipping_cents, tax_cents, gift_card_cents = 0 } = totals
  const goods_cents = subtotal_cents - gift_card_cents
  const inside = totals.prices_include_tax ? tax_cents : 0
  const insideShipping = taxInShipping(inside, goods_cents - discount_cents, shipping_cents)
  return {
    gift_card_cents,
    sales_cents: goods_cents - (inside - insideShipping),
    discount_cents,
    shipping_cents: shipping_cents - insideShipping,
    tax_cents,
  }
}

/** The part of a tax inside that is in the shipping, by what the goods and the shipping cost, rounded down. */
export const taxInShipping = (
  tax_cents: number,
  goods_cents: number,
  shipping_cents: number,
): number => shareOfPart(tax_cents, shipping_cents, goods_cents + shipping_cents)

/** The amounts of a line as an order stores them. */
export type StoredShares = Pick<
  LineShares,
  'line_total_cents' | 'discount_cents' | 'tax_cents' | 'shipping_cents'
> & { quantity: number }

/**
 * The refundable amounts of some units of a line, after `quantity_before` units were refunded. `product_cents` is
 * without tax, and `tax_cents` is that of the goods. `shipping_cents` is what was paid for the shipping of the units,
 * and `amount_cents` the sum that was paid for all of it.
 */
export function lineShare(
  line: StoredShares,
  quantity_before: number,
  quantity: number,
  prices_include_tax: boolean,
) {
  const isValid = [quantity_before, quantity].every((n) => Number.isSafeInteger(n) && n >= 0)
  if (!isValid || quantity_before + quantity > line.quantity) {
    throw new RangeError('more units than the line has')
  }
  const units = { all: line.quantity, before: quantity_before, now: quantity }
  const goods_cents = unitShare(line.line_total_cents - line.discount_cents, units)
  const tax_cents = prices_include_tax
    ? taxOfUnits(line, units, goods_cents)
    : unitShare(line.tax_cents, units)
  const product_cents = prices_include_tax ? goods_cents - tax_cents : goods_cents
  const shipping_cents = unitShare(line.shipping_cents, units)
  return {
    product_cents,
    tax_cents,
    shipping_cents,
    amount_cents: product_cents + tax_cents + shipping_cents,
  }
}

/**
 * The tax inside the price of some units. It follows the amount that was refunded before and is
 * refunded now, rounded down, so that a unit is refunded at exactly its price, no unit has more tax
 * than its price, and the taxes of all units add up to that of the line.
 */
function taxOfUnits(
  line: StoredShares,
  { all, before }: { all: number; before: number },
  now_cents: number,
): number {
  const goods_cents = line.line_total_cents - line.discount_cents
  const inside = line.tax_cents - taxInShipping(line.tax_cents, goods_cents, line.shipping_cents)
  const before_cents = unitShare(goods_cents, { all, before: 0, now: before })
  const upTo = (cents: number) => shareOfPart(inside, cents, goods_cents)
  return upTo(before_cents + now_cents) - upTo(before_cents)
}
