import { giveUpLabels, listLabels } from './modules/carriers/give-up.ts'
import type { CheckoutDeps } from './modules/checkout/service.ts'
import { cancelPending } from './modules/fulfillment/service.ts'
import { codeKeys } from './modules/gift-cards/card-code.ts'
import type { LossDeps } from './modules/order-changes/lost-dispute-money.ts'
import { httpTaxProvider } from './modules/pricing/tax.ts'
import { onCancelledRenewal, onRenewal } from './modules/renewals/outcome.ts'
import { listWaitingExchanges, openExchange } from './modules/returns/exchange-money.ts'
import { cancelOfOrder } from './modules/subscriptions/service.ts'
import type { Runtime } from './runtime.ts'

export interface OpenedCheckout extends CheckoutDeps, LossDeps {
  /** The key of the requests' fingerprints. */
  idempotencyKey: Buffer
}

/** Opens the deps of all code that moves an order's money: the routes, and the loops that finish operations. */
export function openCheckout(runtime: Runtime): OpenedCheckout {
  const { config, payments, limits, key, logger } = runtime
  const { TAX_PROVIDER_URL: url, TAX_PROVIDER_KEY } = config
  return {
    payments,
    limits,
    velocityLimit: config.CHECKOUT_VELOCITY_PER_MINUTE,
    tax: url === undefined ? null : httpTaxProvider({ url, key: TAX_PROVIDER_KEY }),
    keys: {
      giftCards: codeKeys(key),
      fingerprint: key('card fingerprint'),
      customers: key('customers'),
      quote: key('quote token'),
      touch: key('referral touch'),
    },
    cancelParcels: cancelPending,
    openExchange,
    listWaitingExchanges,
    listLabels,
    giveUpLabels,
    async endSubscriptions(tx, order, reason) {
      await onCancelledRenewal(tx, order, reason)
      return cancelOfOrder(tx, order.id)
    },
    onRenewal,
    onAlert: (alert, message) => logger.error(alert, message),
    idempotencyKey: key('idempotency fingerprint'),
  }
}
