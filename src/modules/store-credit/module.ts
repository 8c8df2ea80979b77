import { SECOND_MS } from '../../kernel/time.ts'
import { forGood, MONEY } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const storeCredit = {
  name: 'store-credit',
  is: 'credit of customers, which pays for orders and may expire',
  uses: ['customers', 'entitlements', 'ledger', 'stores'],
  tables: {
    store_credit_accounts: forGood(MONEY),
    store_credit_lots: forGood(MONEY),
    store_credit_spent: forGood(MONEY),
    store_credit_transactions: forGood(MONEY),
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  routes: async ({ key, ports }) => {
    const { merchantRoutes } = await import('./routes.ts')
    const idempotencyKey = key('idempotency fingerprint')
    return { merchant: [merchantRoutes({ ...ports.storeCredit, idempotencyKey })] }
  },
  loops: async ({ workerDatabase: database }) => {
    const { expireDue } = await import('./jobs.ts')
    return [loop('store credit expiry', 10 * SECOND_MS, (signal) => expireDue(database, signal))]
  },
  due: async () => {
    const { dueExpiry } = await import('./jobs.ts')
    return [{ rank: 'store credit', work: [dueExpiry] }]
  },
} as const satisfies Face
