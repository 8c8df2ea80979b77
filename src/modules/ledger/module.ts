import type { Face } from '../face.ts'

export const ledger = {
  name: 'ledger',
  is: 'the books of a store: journals that sum to zero, chained and verified',
  uses: [],
} as const satisfies Face
