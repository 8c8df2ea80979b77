import type { ShippingPolicy } from './schema.ts'

interface Parcel {
  expedited: boolean
  /** The price of the goods after the discount. */
  goods_cents: number
}

/**
 * The shipping price of a parcel. Above the threshold the flat rate is waived, the expedited rate
 * never.
 */
export function shippingCents(policy: ShippingPolicy | null, parcel: Parcel): number {
  if (policy === null || missingForFreeShipping(policy, parcel) === 0) return 0
  const rate = parcel.expedited ? policy.expedited_rate_cents : policy.flat_rate_cents
  return Math.min(rate, policy.max_cents)
}

/** Returns the amount that is missing for free shipping, or null if no amount makes it free. */
export function missingForFreeShipping(
  policy: ShippingPolicy | null,
  parcel: Parcel,
): number | null {
  const threshold = policy?.free_shipping_threshold_cents ?? null
  if (threshold === null || parcel.expedited) return null
  return Math.max(0, threshold - parcel.goods_cents)
}
