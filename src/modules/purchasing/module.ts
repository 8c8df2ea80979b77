import type { Face } from '../face.ts'

export const purchasing = {
  name: 'purchasing',
  is: 'vendors, purchase orders and their receipts',
  uses: ['inventory', 'stores'],
} as const satisfies Face
