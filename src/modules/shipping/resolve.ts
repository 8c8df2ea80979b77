import { missingForFreeShipping, shippingPrice } from '../../../manifest/shipping.ts'
import type { ShippingChange, ShippingTerms } from './schema.ts'
import type { StoredTerms } from './terms.ts'

/** The terms that may hold for a sale. */
export interface ShippingQuestion {
  /** What the request sends: the policy of its store's site, or a change of an order. */
  sent?: ShippingChange
  /** What the sale keeps: the terms of the order that is changed, of the subscription, or the price of an exchange. */
  kept?: ShippingTerms | undefined
}

/** What is sold, as far as its shipping depends on it. */
export interface ShippedGoods {
  lines: readonly { quantity: number; gift_card?: boolean }[]
  /** The price of the goods after the discount, without gift cards. */
  goods_cents: number
}

export interface ResolvedShipping {
  cents: number
  /** The price of goods that is missing for free shipping; null where no amount makes it free. */
  missing_for_free_cents: number | null
  /** The terms that hold. They are stored with the order, for its changes and renewals. */
  terms: StoredTerms
}

/**
 * Decides whose terms of shipping hold for a sale, and what its shipping costs by them: the one place where a price of
 * shipping comes from. It is pure, so that a quote and its charge are equal, and thousands of renewals are forecast
 * without a statement; what a price needs from the database is read with the other facts of the sale (decision 0079).
 */
export function resolveShipping(
  { sent = {}, kept = {} }: ShippingQuestion,
  { lines, goods_cents }: ShippedGoods,
): ResolvedShipping {
  const shipping = sent.shipping ?? kept.shipping ?? null
  const expedited = sent.expedited ?? kept.expedited ?? false
  const terms = { shipping, expedited }
  // Gift cards are mailed, and an edit may leave no unit.
  const isShipped = lines.some(({ quantity, gift_card = false }) => quantity > 0 && !gift_card)
  if (shipping === null || !isShipped) return { cents: 0, missing_for_free_cents: null, terms }
  const shipment = { goods_cents, expedited }
  return {
    cents: shippingPrice(shipping, shipment),
    missing_for_free_cents: missingForFreeShipping(shipping, shipment),
    terms,
  }
}
