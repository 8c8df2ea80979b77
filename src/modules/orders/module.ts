import type { Face } from '../face.ts'

export const orders = {
  name: 'orders',
  is: 'orders, the status that follows from their facts, and how they are read',
  uses: [
    'affiliates',
    'catalog',
    'fraud',
    'gift-cards',
    'inventory',
    'marketing',
    'operations',
    'payments',
    'pricing',
    'webhooks',
  ],
} as const satisfies Face
