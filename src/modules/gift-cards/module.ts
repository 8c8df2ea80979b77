import type { Face } from '../face.ts'

export const giftCards = {
  name: 'gift-cards',
  is: 'cards with a balance, issued or bought, that pay for orders',
  uses: ['entitlements', 'ledger', 'stores', 'webhooks'],
} as const satisfies Face
