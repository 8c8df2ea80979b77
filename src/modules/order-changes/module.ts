import { forGood, MONEY, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const orderChanges = {
  name: 'order-changes',
  is: 'what becomes of a paid order: refunds, cancellations, edits, corrections, disputes',
  uses: [
    'affiliates',
    'catalog',
    'customers',
    'fraud',
    'gift-cards',
    'inventory',
    'ledger',
    'marketing',
    'operations',
    'orders',
    'payments',
    'pricing',
    'shipping',
    'sites',
    'store-credit',
    'stores',
    'webhooks',
  ],
  tables: {
    order_line_changes: owner('orders'),
    refund_items: forGood(MONEY),
    refund_tenders: forGood(MONEY),
    refunds: forGood(MONEY),
  },
  errors: ERRORS,
  events: () => import('./events.ts'),
  routes: async (house) => {
    const [routes, previews, corrections, { openOrderChanges }] = await Promise.all([
      import('./routes.ts'),
      import('./edit-preview-routes.ts'),
      import('./correct-routes.ts'),
      import('./open.ts'),
    ])
    const deps = openOrderChanges(house)
    return {
      merchant: [
        routes.merchantRoutes(deps),
        previews.merchantRoutes(deps),
        corrections.merchantRoutes(deps),
      ],
      storefront: [routes.storefrontRoutes(deps), previews.storefrontRoutes(deps)],
      operator: [routes.operatorRoutes(deps)],
    }
  },
} as const satisfies Face
