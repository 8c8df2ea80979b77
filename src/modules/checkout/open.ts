import { codeKeys } from '../gift-cards/card-code.ts'
import type { House } from '../house.ts'
import { openOrderChanges } from '../order-changes/open.ts'
import type { CheckoutDeps } from './service.ts'

/** Opens the deps of checkouts and renewals: for the routes, and for the loops that finish operations. */
export function openCheckout(house: House): CheckoutDeps & { idempotencyKey: Buffer } {
  const { key, limits, ports } = house
  const changes = openOrderChanges(house)
  return {
    ...changes,
    limits,
    keys: {
      ...changes.keys,
      giftCards: codeKeys(key),
      customers: key('customers'),
      quote: key('quote token'),
      touch: key('referral touch'),
    },
    onRenewal: ports.checkout.onRenewal,
  }
}
