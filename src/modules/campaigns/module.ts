import type { Face } from '../face.ts'

export const campaigns = {
  name: 'campaigns',
  is: 'campaigns: the budget of their coupons, and their mails',
  uses: ['claims', 'sites', 'stores', 'webhooks'],
} as const satisfies Face
