import { owner, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'

export const reminders = {
  name: 'reminders',
  is: 'mails about carts that were not bought',
  uses: ['campaigns', 'catalog', 'inventory', 'marketing'],
  tables: {
    checkout_reminder_settings: owner('stores', 'one row for each'),
    checkout_reminders: until(
      '30 days after the cart was last seen, or at once when the store switches reminders off',
      'reminder upkeep',
    ),
  },
  customerData: () => import('./customer-data.ts'),
} as const satisfies Face
