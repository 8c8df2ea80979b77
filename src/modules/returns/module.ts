import { owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const returns = {
  name: 'returns',
  is: 'returns and exchanges: what comes back, and what is refunded for it',
  uses: ['catalog', 'inventory', 'operations', 'order-changes', 'orders', 'sites', 'stores'],
  tables: {
    return_exchanges: owner('returns'),
    return_lines: owner('returns'),
    return_receipt_lines: owner('return_receipts'),
    return_receipts: owner('returns'),
    return_resolutions: owner('return_lines'),
    returns: owner('orders'),
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
  routes: async (house) => {
    const [{ merchantRoutes, storefrontRoutes }, { openOrderChanges }] = await Promise.all([
      import('./routes.ts'),
      import('../order-changes/open.ts'),
    ])
    const deps = openOrderChanges(house)
    return {
      merchant: [merchantRoutes(deps)],
      storefront: [storefrontRoutes({ ...deps, ...house.ports.orders })],
    }
  },
} as const satisfies Face
