import { forGood } from '../../platform/retention.ts'
import type { Face } from '../face.ts'

export const customers = {
  name: 'customers',
  is: 'the customers of a store, by their reference',
  uses: [],
  tables: {
    customers: forGood('A customer, until erased; then a tombstone keeps the erasure.'),
  },
} as const satisfies Face
