import { MINUTE_MS } from '../../kernel/time.ts'
import { owner } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'

export const fulfillment = {
  name: 'fulfillment',
  is: 'parcels: packed, shipped, delivered',
  uses: ['entitlements', 'inventory', 'orders', 'stores'],
  tables: {
    fulfillment_items: owner('fulfillments'),
    fulfillments: owner('orders'),
  },
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
  routes: async ({ key }) => {
    const { merchantRoutes } = await import('./routes.ts')
    return { merchant: [merchantRoutes({ idempotencyKey: key('idempotency fingerprint') })] }
  },
  loops: async ({ workerDatabase: database }) => {
    const { deliverParcels } = await import('./jobs.ts')
    return [loop('parcel delivery', MINUTE_MS, (signal) => deliverParcels(database, signal))]
  },
  due: async () => {
    const { dueDeliveries } = await import('./jobs.ts')
    return [{ rank: 'parcels', work: [dueDeliveries] }]
  },
} as const satisfies Face
