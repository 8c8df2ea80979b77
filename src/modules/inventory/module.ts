import type { Face } from '../face.ts'

export const inventory = {
  name: 'inventory',
  is: 'stock by location: levels, reservations, counts, transfers, and what units have cost',
  uses: ['ledger', 'stores', 'webhooks'],
} as const satisfies Face
