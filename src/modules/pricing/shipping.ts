import type { ShippingPolicy } from './schema.ts'

interface Parcel {
  expedited: boolean
  /** What the goods cost after the discount. */
  goods_cents: number
}

/** What the policy asks for a parcel. Only the ordinary rate is waived for a large order. */
export function shippingCents(policy: ShippingPolicy | null, parcel: Parcel): number {
  if (policy === null || missingForFree(policy, parcel) === 0) return 0
  const rate = parcel.expedited ? policy.expedited_rate_cents : policy.flat_rate_cents
  return Math.min(rate, policy.max_cents)
}

/** How much more must be bought until shipping is free. Null where that cannot happen. */
export function missingForFree(policy: ShippingPolicy | null, parcel: Parcel): number | null {
  const threshold = policy?.free_shipping_threshold_cents ?? null
  if (threshold === null || parcel.expedited) return null
  return Math.max(0, threshold - parcel.goods_cents)
}
