import type { Face } from '../face.ts'

export const catalog = {
  name: 'catalog',
  is: 'products, variants, collections and their search',
  uses: ['claims', 'entitlements', 'media', 'stores'],
} as const satisfies Face
