import { forGood, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const privacy = {
  name: 'privacy',
  is: 'what all modules have of a customer: shown, exported, erased',
  uses: [
    'affiliates',
    'campaigns',
    'customers',
    'fulfillment',
    'gift-cards',
    'marketing',
    'orders',
    'pricing',
    'reminders',
    'returns',
    'segments',
    'shopper-mail',
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
