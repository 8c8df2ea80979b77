import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { CheckoutRequest } from '../checkout/schema.ts'
import { type CheckoutDeps, type KeptTerms, readSale } from '../checkout/service.ts'
import type { ShipTo } from '../orders/schema.ts'
import { termsIn } from '../shipping/terms.ts'
import type { DueSubscription } from '../subscriptions/cycle-schema.ts'

/** The price of a renewal, which is priced like a checkout. */

/** Returns the request of the checkout that a renewal runs. */
export function requestOf(subscription: DueSubscription): CheckoutRequest {
  const { customer_ref, person_id, email, variant_id, quantity, ship_to } = subscription
  const stored = subscription.pricing ?? {}
  const { tax = null, referral_code } = stored
  return {
    customer_ref,
    person_id,
    email,
    items: [{ variant_id, quantity }],
    subscribe: true,
    shipping_address: ship_to as ShipTo | null,
    tax,
    referral_code,
  }
}

/**
 * Returns the price, the shipping and the coupon that a renewal keeps. A locked price also keeps whether the tax is
 * inside.
 */
export function keptBy(subscription: DueSubscription): KeptTerms {
  const { price_policy, unit_price_cents, prices_include_tax, pricing } = subscription
  const isLocked = price_policy === 'locked'
  return {
    shipping: termsIn(pricing ?? {}),
    unit_price_cents: isLocked ? unit_price_cents : null,
    prices_include_tax: isLocked ? prices_include_tax : null,
    coupon: pricing?.coupon ?? null,
  }
}

/** Computes the price of the next renewal now. Returns null if it cannot be sold as before. */
export async function priceNext(deps: CheckoutDeps, db: Db, subscription: DueSubscription) {
  try {
    const request = { ...requestOf(subscription), kept: keptBy(subscription) }
    const { priced } = await readSale(db, deps, request)
    const [line] = priced.lines
    if (line === undefined) return null
    return { unit_price_cents: line.unit_price_cents, total_cents: priced.total_cents }
  } catch (error) {
    if (error instanceof ApiError) return null
    throw error
  }
}
