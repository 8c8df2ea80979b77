import { forGood, MONEY } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
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
} as const satisfies Face
