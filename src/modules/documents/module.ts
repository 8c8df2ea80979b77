import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const documents = {
  name: 'documents',
  is: 'invoices and packing slips as PDF',
  uses: ['fulfillment', 'media', 'orders', 'sites', 'stores'],
  errors: ERRORS,
  routes: async ({ pdfs, blobs, assetBase }) => {
    const { merchantRoutes } = await import('./routes.ts')
    return { merchant: [merchantRoutes({ pdfs, blobs, assetBase })] }
  },
} as const satisfies Face
