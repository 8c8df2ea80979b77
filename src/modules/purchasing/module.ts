import { forGood, owner, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const purchasing = {
  name: 'purchasing',
  is: 'vendors, purchase orders and their receipts',
  uses: ['inventory', 'stores'],
  tables: {
    purchase_cost_allocations: owner('purchase_costs'),
    purchase_costs: owner('purchase_orders'),
    purchase_order_counters: owner('stores', 'one row for each'),
    purchase_order_lines: owner('purchase_orders'),
    purchase_orders: forGood('What goods have cost: closed books do not change.'),
    purchase_receipt_lines: owner('purchase_receipts'),
    purchase_receipts: owner('purchase_orders'),
    vendors: forGood(STORE),
  },
  counted: {
    vendors: 'Vendors, archived ones included.',
    purchase_orders: 'Purchase orders, ended ones included.',
  },
  errors: ERRORS,
  routes: async ({ key }) => {
    const { merchantRoutes } = await import('./routes.ts')
    return { merchant: [merchantRoutes({ idempotencyKey: key('idempotency fingerprint') })] }
  },
} as const satisfies Face
