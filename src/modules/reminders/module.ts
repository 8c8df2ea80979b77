import type { Face } from '../face.ts'

export const reminders = {
  name: 'reminders',
  is: 'mails about carts that were not bought',
  uses: ['campaigns', 'catalog', 'inventory', 'marketing'],
} as const satisfies Face
