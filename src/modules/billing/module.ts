import type { Face } from '../face.ts'

export const billing = {
  name: 'billing',
  is: 'what a store pays the operator: plans, usage, invoices',
  uses: ['documents', 'entitlements', 'media', 'stores'],
} as const satisfies Face
