import { owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'

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
} as const satisfies Face
