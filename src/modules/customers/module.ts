import type { Face } from '../face.ts'

export const customers = {
  name: 'customers',
  is: 'the customers of a store, by their reference',
  uses: [],
} as const satisfies Face
