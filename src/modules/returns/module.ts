import { owner } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const returns = {
  name: 'returns',
  is: 'returns and exchanges: what comes back, and what is refunded for it',
  uses: ['catalog', 'inventory', 'operations', 'order-changes', 'orders', 'sites', 'stores'],
  tables: {
    return_exchanges: owner('returns'),
    return_lines: owner('returns'),
    return_receipt_lines: owner('return_receipts'),
    return_receipts: owner('returns'),
    return_resolutions: owner('return_lines'),
    returns: owner('orders'),
  },
  errors: ERRORS,
  customerData: () => import('./customer-data.ts'),
  events: () => import('./events.ts'),
} as const satisfies Face
