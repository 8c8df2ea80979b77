import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const samples = {
  name: 'samples',
  is: 'sample products, which fill a draft store and the demo stores',
  uses: ['catalog', 'media', 'stores'],
  errors: ERRORS,
  routes: async (house) => {
    const [{ merchantRoutes }, { openMedia }, { acceptAnyDigits }] = await Promise.all([
      import('./routes.ts'),
      import('../media/open.ts'),
      import('../../http/card-text.ts'),
    ])
    return { merchant: [acceptAnyDigits(merchantRoutes(openMedia(house)))] }
  },
} as const satisfies Face
