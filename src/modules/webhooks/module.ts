import { byMonth, forGood, owner, STORE, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'
import { DELIVERY_SLICES, EVENT_SLICES } from './retention-queries.ts'

export const webhooks = {
  name: 'webhooks',
  is: 'events, numbered for each store, and their delivery to endpoints',
  uses: ['entitlements', 'stores'],
  tables: {
    webhook_attempts: byMonth('RETENTION_WEBHOOK_DAYS', 'the month of their delivery goes'),
    webhook_deliveries: byMonth(
      'RETENTION_WEBHOOK_DAYS',
      'a whole month is older than the period, and none of it is still to be sent',
      DELIVERY_SLICES,
    ),
    webhook_events: byMonth(
      'RETENTION_WEBHOOK_DAYS',
      'the month of their deliveries is gone',
      EVENT_SLICES,
    ),
    webhook_feeds: owner('stores'),
    webhook_lanes: until('their deliveries are sent', 'webhook dispatch'),
    webhook_queue: until('taken into a lane', 'webhook dispatch'),
    webhook_subscriptions: forGood(STORE),
  },
  limits: () => import('./limits.ts'),
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
} as const satisfies Face
