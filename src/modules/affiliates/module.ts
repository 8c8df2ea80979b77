import type { Face } from '../face.ts'

export const affiliates = {
  name: 'affiliates',
  is: 'who brings shoppers for a commission: codes, clicks, commissions, payouts',
  uses: ['entitlements', 'ledger', 'stores', 'webhooks'],
} as const satisfies Face
