import type { Face } from '../face.ts'

export const storeCredit = {
  name: 'store-credit',
  is: 'credit of customers, which pays for orders and may expire',
  uses: ['customers', 'entitlements', 'ledger', 'stores'],
} as const satisfies Face
