import type { Face } from '../face.ts'

export const carriers = {
  name: 'carriers',
  is: 'shipping labels, bought and voided at carriers, and what carriers report of parcels',
  uses: ['documents', 'fulfillment', 'gateway', 'operations', 'order-changes', 'orders'],
} as const satisfies Face
