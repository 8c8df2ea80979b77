import type { Face } from '../face.ts'

export const marketing = {
  name: 'marketing',
  is: 'coupons; and readers: their consents, the newsletter, suppressions',
  uses: ['affiliates', 'campaigns', 'customers', 'gateway', 'sites', 'stores'],
} as const satisfies Face
