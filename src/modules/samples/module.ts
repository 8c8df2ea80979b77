import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const samples = {
  name: 'samples',
  is: 'sample products, which fill a draft store and the demo stores',
  uses: ['catalog', 'media', 'stores'],
  errors: ERRORS,
} as const satisfies Face
