import type { Face } from '../face.ts'

export const segments = {
  name: 'segments',
  is: 'groups of people by what they bought and agreed to',
  uses: ['ledger', 'subscriptions'],
} as const satisfies Face
