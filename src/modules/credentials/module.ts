import type { Face } from '../face.ts'

export const credentials = {
  name: 'credentials',
  is: 'the keys of merchants, and the storefront tokens of stores',
  uses: ['identity', 'stores'],
} as const satisfies Face
