import {
  missingForFreeShipping as missingByRates,
  type Shipment,
  shippingPrice,
} from '../../../manifest/shipping.ts'
import type { ShippingPolicy } from './schema.ts'

/** The shipping price of a parcel. Without a policy it costs nothing. */
export const shippingCents = (policy: ShippingPolicy | null, parcel: Shipment): number =>
  policy === null ? 0 : shippingPrice(policy, parcel)

/** Returns the amount that is missing for free shipping, or null if no amount makes it free. */
export const missingForFreeShipping = (
  policy: ShippingPolicy | null,
  parcel: Shipment,
): number | null => (policy === null ? null : missingByRates(policy, parcel))
