import type { Face } from '../face.ts'

export const pricing = {
  name: 'pricing',
  is: 'what a cart costs: group prices, discounts, shipping, tax',
  uses: ['catalog', 'entitlements', 'marketing'],
} as const satisfies Face
