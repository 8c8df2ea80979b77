import { HOUR_MS } from '../../kernel/time.ts'
import { bySlice, forGood, MONEY, STORE } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'
import { paymentDaysSlice } from './retention-queries.ts'

export const payments = {
  name: 'payments',
  is: 'card money at gateways: accounts, attempts, stored cards, the comparison of books',
  uses: ['entitlements', 'stores'],
  tables: {
    payment_accounts: forGood(STORE),
    payment_attempts: forGood(MONEY),
    payment_days: bySlice(
      'RETENTION_COMPARISON_DAYS',
      'older than the period and compared',
      paymentDaysSlice,
    ),
    payment_discrepancies: forGood(MONEY),
    sim_charges: forGood('The books of the simulated gateway, which stands in for a real one.'),
    sim_journal: forGood('The books of the simulated gateway, which stands in for a real one.'),
    sim_vault: forGood('The books of the simulated gateway, which stands in for a real one.'),
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  routes: async ({ payments, limits, operatorDatabase }) => {
    const { merchantRoutes, operatorRoutes, storefrontRoutes } = await import('./routes.ts')
    return {
      merchant: [merchantRoutes({ payments, limits })],
      storefront: [storefrontRoutes(payments.deps)],
      operator: [operatorRoutes(payments.deps, operatorDatabase.allStores)],
    }
  },
  loops: async ({ workerDatabase: database, payments, clock }) => {
    const { createComparison } = await import('./jobs.ts')
    return [loop('payment comparison', HOUR_MS, createComparison({ database, payments, clock }))]
  },
} as const satisfies Face
