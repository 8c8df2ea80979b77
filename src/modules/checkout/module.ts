import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const checkout = {
  name: 'checkout',
  is: 'prices a cart, takes its payment, places the order',
  uses: [
    'affiliates',
    'catalog',
    'customers',
    'entitlements',
    'fraud',
    'gift-cards',
    'inventory',
    'ledger',
    'marketing',
    'operations',
    'order-changes',
    'orders',
    'payments',
    'pricing',
    'provider-events',
    'returns',
    'shipping',
    'sites',
    'store-credit',
    'stores',
    'subscriptions',
  ],
  errors: ERRORS,
} as const satisfies Face
