import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts'
import { forGood, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
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
  routes: async ({ clock, key, loadCustomerData }) => {
    const [privacy, customers, { acceptAnyDigits }] = await Promise.all([
      import('./routes.ts'),
      import('./customer-routes.ts'),
      import('../../http/card-text.ts'),
    ])
    const customersKey = key('customers')
    const deps = {
      customersKey,
      loadCustomerData,
      confirmKey: key('erasure confirmation'),
      exportKey: key('privacy export'),
      idempotencyKey: key('idempotency fingerprint'),
      clock,
    }
    return {
      merchant: [
        customers.merchantRoutes({ customersKey }),
        acceptAnyDigits(privacy.merchantRoutes(deps)),
      ],
    }
  },
  loops: async ({ workerDatabase: database, key, loadCustomerData }) => {
    const jobs = await import('./jobs.ts')
    const keys = { exportKey: key('privacy export'), customersKey: key('customers') }
    return [
      loop('privacy exports', 5 * SECOND_MS, (signal) =>
        jobs.makeDueExports(database, keys, signal),
      ),
      loop('privacy upkeep', HOUR_MS, () => jobs.deleteExpiredExports(database)),
      loop('privacy erasures', MINUTE_MS, (signal) =>
        jobs.resumeErasures(database, { ...keys, loadCustomerData }, signal),
      ),
    ]
  },
} as const satisfies Face
