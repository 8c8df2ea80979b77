import { affiliates } from '../modules/affiliates/module.ts'
import { analytics } from '../modules/analytics/module.ts'
import { billing } from '../modules/billing/module.ts'
import { campaigns } from '../modules/campaigns/module.ts'
import { carriers } from '../modules/carriers/module.ts'
import { catalog } from '../modules/catalog/module.ts'
import { checkout } from '../modules/checkout/module.ts'
import { credentials } from '../modules/credentials/module.ts'
import { customers } from '../modules/customers/module.ts'
import { documents } from '../modules/documents/module.ts'
import { domains } from '../modules/domains/module.ts'
import { entitlements } from '../modules/entitlements/module.ts'
import type { Area, Face } from '../modules/face.ts'
import { feeds } from '../modules/feeds/module.ts'
import { fraud } from '../modules/fraud/module.ts'
import { fulfillment } from '../modules/fulfillment/module.ts'
import { giftCards } from '../modules/gift-cards/module.ts'
import { healthClaims } from '../modules/health-claims/module.ts'
import { identity } from '../modules/identity/module.ts'
import { inventory } from '../modules/inventory/module.ts'
import { ledger } from '../modules/ledger/module.ts'
import { marketing } from '../modules/marketing/module.ts'
import { media } from '../modules/media/module.ts'
import { myStore } from '../modules/my-store/module.ts'
import { operations } from '../modules/operations/module.ts'
import { orderChanges } from '../modules/order-changes/module.ts'
import { orderLinks } from '../modules/order-links/module.ts'
import { orders } from '../modules/orders/module.ts'
import { payments } from '../modules/payments/module.ts'
import { pricing } from '../modules/pricing/module.ts'
import { privacy } from '../modules/privacy/module.ts'
import { providerEvents } from '../modules/provider-events/module.ts'
import { purchasing } from '../modules/purchasing/module.ts'
import { reminders } from '../modules/reminders/module.ts'
import { renewals } from '../modules/renewals/module.ts'
import { returns } from '../modules/returns/module.ts'
import { samples } from '../modules/samples/module.ts'
import { segments } from '../modules/segments/module.ts'
import { shipping } from '../modules/shipping/module.ts'
import { shopperMail } from '../modules/shopper-mail/module.ts'
import { sites } from '../modules/sites/module.ts'
import { storeCredit } from '../modules/store-credit/module.ts'
import { stores } from '../modules/stores/module.ts'
import { subscriptions } from '../modules/subscriptions/module.ts'
import { testClock } from '../modules/test-clock/module.ts'
import { webhooks } from '../modules/webhooks/module.ts'

/**
 * Every module, from the ground up: the one list that is written by hand. A module enters only those that stand before
 * it (decision 0075).
 */
export const AREAS = [
  {
    name: 'store',
    is: 'who there is',
    modules: [entitlements, stores, identity, credentials, domains, customers],
  },
  {
    name: 'messages',
    is: 'what is told to others',
    modules: [webhooks],
  },
  {
    name: 'books',
    is: 'what is owed',
    modules: [ledger, storeCredit, giftCards],
  },
  {
    name: 'site',
    is: 'what shoppers see',
    modules: [media, healthClaims, sites],
  },
  {
    name: 'goods',
    is: 'what is sold',
    modules: [catalog, samples, inventory, purchasing],
  },
  {
    name: 'people',
    is: 'who is kept out, and who helps to sell',
    modules: [fraud, affiliates],
  },
  {
    name: 'prices',
    is: 'what is asked for it',
    modules: [campaigns, marketing, shipping, pricing],
  },
  {
    name: 'payments',
    is: 'how money comes in, and what its providers tell us',
    modules: [payments, operations, providerEvents],
  },
  {
    name: 'orders',
    is: 'what was bought, and what becomes of it',
    modules: [orders, orderLinks, orderChanges, fulfillment, documents, carriers, returns],
  },
  {
    name: 'sales',
    is: 'how orders come about',
    modules: [subscriptions, checkout, renewals],
  },
  {
    name: 'reach',
    is: 'who is told of the shop',
    modules: [segments, reminders, shopperMail, feeds],
  },
  {
    name: 'insight',
    is: 'what is known of all of it',
    modules: [analytics, billing, privacy, myStore, testClock],
  },
] as const satisfies readonly Area[]

export const MODULES: readonly Face[] = AREAS.flatMap(({ modules }): readonly Face[] => modules)
