import { bySlice, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { shopperMailsSlice } from './retention-queries.ts'

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
  tables: {
    shopper_mail_settings: owner('stores', 'one row for each'),
    shopper_mails: bySlice(
      'RETENTION_SHOPPER_MAIL_DAYS',
      'older than the period, sent or not',
      shopperMailsSlice,
    ),
  },
  customerData: () => import('./customer-data.ts'),
} as const satisfies Face
