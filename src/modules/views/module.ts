import { forGood, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const views = {
  name: 'views',
  is: 'what is gathered from many modules: customers, privacy, the state and limits of a store',
  uses: [
    'affiliates',
    'campaigns',
    'catalog',
    'credentials',
    'customers',
    'domains',
    'entitlements',
    'fulfillment',
    'gift-cards',
    'health-claims',
    'marketing',
    'orders',
    'pricing',
    'reminders',
    'returns',
    'segments',
    'shopper-mail',
    'sites',
    'store-credit',
    'stores',
    'subscriptions',
    'webhooks',
  ],
  tables: {
    privacy_erasures: forGood('Proves that a person was erased; has no personal data when done.'),
    privacy_exports: until('7 days after their request', 'privacy upkeep'),
  },
  errors: ERRORS,
} as const satisfies Face
