import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts'
import { forGood, MONEY, owner } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
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
  routes: async (house) => {
    const [{ merchantRoutes, storefrontRoutes }, { openGiftCards }] = await Promise.all([
      import('./routes.ts'),
      import('./open.ts'),
    ])
    const deps = openGiftCards(house)
    return { merchant: [merchantRoutes(deps)], storefront: [storefrontRoutes(deps)] }
  },
  loops: async ({ workerDatabase: database }) => {
    const { expireDue, eraseOldCodes } = await import('./jobs.ts')
    return [
      loop('gift card expiry', 10 * SECOND_MS, (signal) => expireDue(database, signal)),
      loop('gift card codes', HOUR_MS, () => eraseOldCodes(database)),
    ]
  },
  due: async () => {
    const { dueExpiry } = await import('./jobs.ts')
    return [{ rank: 'gift cards', work: [dueExpiry] }]
  },
} as const satisfies Face
