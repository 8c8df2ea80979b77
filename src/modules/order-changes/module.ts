import { forGood, MONEY, owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const orderChanges = {
  name: 'order-changes',
  is: 'what becomes of a paid order: refunds, cancellations, edits, corrections, disputes',
  uses: [
    'affiliates',
    'catalog',
    'customers',
    'fraud',
    'gift-cards',
    'inventory',
    'ledger',
    'marketing',
    'operations',
    'orders',
    'payments',
    'pricing',
    'shipping',
    'sites',
    'store-credit',
    'stores',
    'webhooks',
  ],
  tables: {
    order_line_changes: owner('orders'),
    refund_items: forGood(MONEY),
    refund_tenders: forGood(MONEY),
    refunds: forGood(MONEY),
  },
  errors: ERRORS,
  events: () => import('./events.ts'),
} as const satisfies Face
