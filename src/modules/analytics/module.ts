import { bySlice, owner, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { funnelDaysSlice } from './retention-queries.ts'

export const analytics = {
  name: 'analytics',
  is: 'figures and reports, counted from journals',
  uses: ['affiliates', 'campaigns', 'ledger', 'marketing', 'pricing', 'stores'],
  tables: {
    analytics_days: until('their generation was replaced', 'analytics'),
    analytics_facts: until('their generation was replaced', 'analytics'),
    analytics_generations: until('replaced by another, and its rows are deleted', 'analytics'),
    analytics_open_attempts: until(
      'they have an outcome, or their generation was replaced',
      'analytics',
    ),
    analytics_orders: owner('orders', 'country and state, and no person'),
    analytics_payment_days: until('their generation was replaced', 'analytics'),
    analytics_subscription_days: owner('stores', 'one row for each day and currency'),
    analytics_subscription_sums: owner('stores', 'one row for each currency'),
    analytics_subscriptions: owner('subscriptions', 'amounts and times, and no person'),
    funnel_days: bySlice('RETENTION_FUNNEL_DAYS', 'older than the period', funnelDaysSlice),
    subscription_changes: until('counted in the figures', 'analytics'),
  },
  routes: async ({ limits }) => {
    const [{ merchantRoutes, storefrontRoutes }, promotions] = await Promise.all([
      import('./routes.ts'),
      import('./promotion-routes.ts'),
    ])
    return {
      merchant: [merchantRoutes, promotions.merchantRoutes],
      storefront: [storefrontRoutes({ limits })],
    }
  },
  loops: async ({ workerDatabase: database }) => {
    const { COUNT_EVERY_MS, countNumbered } = await import('./jobs.ts')
    return [loop('analytics', COUNT_EVERY_MS, (signal) => countNumbered(database, signal))]
  },
} as const satisfies Face
