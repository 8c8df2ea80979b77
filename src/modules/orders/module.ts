import { bySlice, forGood, MONEY, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'
import { orderTimelineSlice } from './retention-queries.ts'

export const orders = {
  name: 'orders',
  is: 'orders, the status that follows from their facts, and how they are read',
  uses: [
    'affiliates',
    'catalog',
    'fraud',
    'gift-cards',
    'inventory',
    'marketing',
    'operations',
    'payments',
    'pricing',
    'shipping',
    'webhooks',
  ],
  tables: {
    charges: forGood(MONEY),
    order_counters: owner('stores'),
    order_items: owner('orders'),
    order_notes: owner('orders'),
    order_timeline: bySlice(
      'RETENTION_TIMELINE_DAYS',
      'older than the period; 0: kept with their order',
      orderTimelineSlice,
    ),
    orders: forGood(MONEY),
    payment_requests: owner('orders'),
  },
  errors: ERRORS,
  events: () => import('./events.ts'),
  routes: async ({ ports }) => {
    const [{ merchantRoutes, operatorRoutes, storefrontRoutes }, explain] = await Promise.all([
      import('./routes.ts'),
      import('./explain-routes.ts'),
    ])
    return {
      merchant: [merchantRoutes(ports.orders), explain.merchantRoutes(ports.orders)],
      storefront: [storefrontRoutes(ports.orders)],
      operator: [operatorRoutes(ports.orders.onTestFlag)],
    }
  },
} as const satisfies Face
