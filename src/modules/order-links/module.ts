import type { Face } from '../face.ts'

export const orderLinks = {
  name: 'order-links',
  is: 'links by which a shopper sees an order',
  uses: ['orders', 'sites', 'stores'],
} as const satisfies Face
