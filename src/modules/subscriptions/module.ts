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
} as const satisfies Face
