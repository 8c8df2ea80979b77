/**
 * What shipping costs by the policy of a store. The platform charges by this formula, and the storefront shows prices
 * by it before there is a cart.
 */

/** The prices of a policy. */
export interface ShippingRates {
  flat_rate_cents: number
  expedited_rate_cents: number
  max_cents: number
  free_shipping_threshold_cents?: number | null
}

/** What is shipped. */
export interface Shipment {
  /** The price of the goods after the discount. */
  goods_cents: number
  expedited: boolean
}

/** The rate of a way of shipping. Standard shipping costs its rate below the threshold, expedited shipping always. */
export const shippingRate = (rates: ShippingRates, expedited: boolean): number =>
  Math.min(expedited ? rates.expedited_rate_cents : rates.flat_rate_cents, rates.max_cents)

/** The price of shipping. From the threshold on the standard rate is waived, the expedited rate never. */
export const shippingPrice = (rates: ShippingRates, shipment: Shipment): number =>
  missingForFreeShipping(rates, shipment) === 0 ? 0 : shippingRate(rates, shipment.expedited)

/** Returns how much more a shopper must buy for free shipping; null if no amount makes it free. */
export function missingForFreeShipping(
  { free_shipping_threshold_cents: threshold = null }: ShippingRates,
  { goods_cents, expedited }: Shipment,
): number | null {
  return threshold === null || expedited ? null : Math.max(0, threshold - goods_cents)
}

/** Whether shoppers choose between two ways of shipping: where both cost the same, there is one. */
export const offersExpedited = (rates: ShippingRates): boolean =>
  rates.expedited_rate_cents !== rates.flat_rate_cents
