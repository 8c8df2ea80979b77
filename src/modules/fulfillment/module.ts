import type { Face } from '../face.ts'

export const fulfillment = {
  name: 'fulfillment',
  is: 'parcels: packed, shipped, delivered',
  uses: ['entitlements', 'inventory', 'orders', 'stores'],
} as const satisfies Face
