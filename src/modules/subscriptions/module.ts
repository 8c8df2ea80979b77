import type { Face } from '../face.ts'

export const subscriptions = {
  name: 'subscriptions',
  is: 'orders that come again: their dates, terms and changes',
  uses: [
    'catalog',
    'entitlements',
    'fraud',
    'inventory',
    'orders',
    'payments',
    'pricing',
    'sites',
    'stores',
    'webhooks',
  ],
} as const satisfies Face
