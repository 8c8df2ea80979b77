import { forGood, owner, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const entitlements = {
  name: 'entitlements',
  is: 'what a store may use and how much it may have: add-ons by tier, and limits',
  uses: [],
  tables: {
    entitlement_requests: forGood(STORE),
    entitlement_tiers: forGood(STORE),
    entitlements: forGood(STORE),
    store_usage: owner('stores'),
    usage_limits: forGood('What stores may have, as the operator set it.'),
  },
  errors: ERRORS,
  routes: async ({ database, operatorDatabase, counted }) => {
    const [routes, limits] = await Promise.all([import('./routes.ts'), import('./limit-routes.ts')])
    const operator = operatorDatabase.allStores
    return {
      merchant: [routes.merchantRoutes],
      operator: [
        routes.operatorRoutes({ database, operator }),
        limits.operatorRoutes({ database, counted }),
      ],
    }
  },
} as const satisfies Face
