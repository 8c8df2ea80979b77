import type { Face } from '../face.ts'

export const shopperMail = {
  name: 'shopper-mail',
  is: 'mails to shoppers about their orders',
  uses: [
    'catalog',
    'fulfillment',
    'gift-cards',
    'order-changes',
    'order-links',
    'orders',
    'pricing',
    'returns',
    'sites',
    'stores',
    'subscriptions',
  ],
} as const satisfies Face
