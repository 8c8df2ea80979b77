import type { Face } from '../face.ts'

export const documents = {
  name: 'documents',
  is: 'invoices and packing slips as PDF',
  uses: ['fulfillment', 'media', 'orders', 'sites', 'stores'],
} as const satisfies Face
