import type { Face } from '../face.ts'

export const analytics = {
  name: 'analytics',
  is: 'figures and reports, counted from journals',
  uses: ['affiliates', 'campaigns', 'ledger', 'marketing', 'pricing', 'stores'],
} as const satisfies Face
