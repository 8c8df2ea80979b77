export { COUPON_REASONS, type CouponReason, type DiscountTerms, keptTerms } from './coupon.ts'
export { type GroupPrices, groupPrices, pricesOf } from './groups.ts'
export {
  LINE_QUANTITY_MAX,
  lineShare,
  ORDER_CENTS_MAX,
  type PriceInput,
  PriceLimitError,
  type PriceLine,
  price,
  reprice,
  singleCurrency,
} from './price.ts'
export { httpTaxProvider, resolveTax, type Tax, type TaxProvider, type TaxQuestion } from './tax.ts'
