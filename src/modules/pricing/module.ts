import { forGood, owner, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const pricing = {
  name: 'pricing',
  is: 'what a cart costs: group prices, discounts, shipping, tax',
  uses: ['catalog', 'entitlements', 'marketing', 'shipping'],
  tables: {
    pricing_group_members: owner('pricing_groups'),
    pricing_group_prices: owner('pricing_groups'),
    pricing_groups: forGood(STORE),
  },
  counted: {
    pricing_group_prices: 'Prices of pricing groups.',
    pricing_group_members: 'Members of pricing groups.',
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  routes: async () => ({ merchant: [(await import('./routes.ts')).merchantRoutes] }),
} as const satisfies Face
