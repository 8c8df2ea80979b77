import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const documents = {
  name: 'documents',
  is: 'invoices and packing slips as PDF',
  uses: ['fulfillment', 'media', 'orders', 'sites', 'stores'],
  errors: ERRORS,
} as const satisfies Face
