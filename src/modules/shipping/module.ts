import type { Face } from '../face.ts'

export const shipping = {
  name: 'shipping',
  is: 'what it costs to send an order, and by whose terms',
  uses: [],
} as const satisfies Face
