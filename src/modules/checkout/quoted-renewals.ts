import type { OrderRow } from '../orders/schema.ts'
import { recurringTerms, termsForOrder } from '../pricing/coupon.ts'
import type { TaxPolicy } from '../pricing/schema.ts'
import { rateOf } from '../pricing/tax.ts'
import { termsIn } from '../shipping/terms.ts'
import { renewalAmount } from '../subscriptions/price.ts'
import type { Preview, PreviewRequest } from './schema.ts'
import type { Sale, SaleLine } from './service.ts'

/**
 * The renewals that an order would start, at the terms that its subscriptions would keep: a shopper is told what is
 * charged again before the first payment.
 */
export function quotedRenewals(request: PreviewRequest, sale: Sale): Preview['renewals'] {
  const { tax = null } = request
  const { priced, options } = sale
  const prices_include_tax = options.pricesIncludeTax
  const estimate = taxEstimate({ ...priced, tax, prices_include_tax })
  const couponOf = recurringCoupon(sale)
  return priced.lines.flatMap((line) => {
    const { variant_id, quantity, subscription_interval: interval } = line
    if (!line.is_subscription || interval === null) return []
    const pricing = { ...termsIn(request), tax, ...estimate, coupon: couponOf(line) }
    const row = { ...line, pricing, prices_include_tax }
    const amount = renewalAmount(row, undefined, prices_include_tax)
    if (amount === null) return []
    const { amount_cents, is_estimate } = amount
    const interval_count = line.subscription_interval_count ?? 1
    const renewal = { variant_id, quantity, interval, interval_count, amount_cents }
    return [is_estimate ? { ...renewal, is_estimate } : renewal]
  })
}

/** Returns what the renewals of a line keep of the coupon. */
function recurringCoupon({ coupon, priced }: Sale) {
  const recurs = coupon?.recurring && priced.coupon.applied
  const terms = recurs ? termsForOrder(coupon, priced.lines) : null
  return (line: SaleLine) => {
    const kept = terms && recurringTerms(terms, line)
    return kept && { code: coupon?.code ?? '', ...kept }
  }
}

/** The figures that a tax provider's share is estimated from. */
interface TaxedFigures
  extends Pick<OrderRow, 'subtotal_cents' | 'discount_cents' | 'tax_cents' | 'prices_include_tax'> {
  tax: TaxPolicy | null
}

/**
 * Estimates the tax rate of renewals from a tax provider's amount for the goods of their first order, so that
 * their cost can be shown.
 */
export function taxEstimate(order: TaxedFigures): { tax_estimate_bps?: number } {
  const goods = order.subtotal_cents - order.discount_cents
  if (rateOf(order.tax) !== null || order.tax_cents === 0 || goods === 0) return {}
  const base = order.prices_include_tax ? Math.max(goods - order.tax_cents, 1) : goods
  return { tax_estimate_bps: Math.round((order.tax_cents * 10_000) / base) }
}
