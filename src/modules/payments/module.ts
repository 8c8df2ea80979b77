import type { Face } from '../face.ts'

export const payments = {
  name: 'payments',
  is: 'card money at gateways: accounts, attempts, stored cards, the comparison of books',
  uses: ['entitlements', 'stores'],
} as const satisfies Face
