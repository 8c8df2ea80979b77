import type { Face } from '../face.ts'

export const returns = {
  name: 'returns',
  is: 'returns and exchanges: what comes back, and what is refunded for it',
  uses: ['catalog', 'inventory', 'operations', 'order-changes', 'orders', 'sites', 'stores'],
} as const satisfies Face
