import { forGood, MONEY, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const giftCards = {
  name: 'gift-cards',
  is: 'cards with a balance, issued or bought, that pay for orders',
  uses: ['entitlements', 'ledger', 'stores', 'webhooks'],
  tables: {
    gift_card_purchases: owner('orders'),
    gift_card_transactions: forGood(MONEY),
    gift_cards: forGood(MONEY),
  },
  counted: {
    gift_cards: 'Gift cards that were ever issued.',
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
} as const satisfies Face
