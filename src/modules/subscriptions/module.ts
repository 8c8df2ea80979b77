import { handle } from '../../platform/outbox.ts'
import { forGood, MONEY, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const subscriptions = {
  name: 'subscriptions',
  is: 'orders that come again: their dates, terms and changes',
  uses: [
    'catalog',
    'entitlements',
    'fraud',
    'inventory',
    'orders',
    'payments',
    'pricing',
    'shipping',
    'sites',
    'stores',
    'webhooks',
  ],
  tables: {
    subscription_counters: owner('stores', 'one row for each'),
    subscription_cycles: owner('subscriptions'),
    subscription_declines: forGood(
      'Says how often a card was tried, and why a subscription ended.',
    ),
    subscription_settings: owner('stores', 'one row for each'),
    subscriptions: forGood(MONEY),
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
  routes: async ({ payments, limits, config, key }) => {
    const { merchantRoutes, storefrontRoutes } = await import('./routes.ts')
    const deps = {
      payments,
      limits,
      velocityLimit: config.CHECKOUT_VELOCITY_PER_MINUTE,
      keys: { fingerprint: key('card fingerprint') },
    }
    return {
      merchant: [merchantRoutes(deps)],
      storefront: [storefrontRoutes({ ...deps, links: { key: key('subscription link') } })],
    }
  },
  hears: async () => {
    const { NOTICE_DAYS_CHANGED, rescheduleAll } = await import('./cycles.ts')
    return {
      [NOTICE_DAYS_CHANGED.type]: handle(NOTICE_DAYS_CHANGED, (_, db, signal) =>
        rescheduleAll(db, signal),
      ),
    }
  },
} as const satisfies Face
