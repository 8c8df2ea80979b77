import type { Face } from '../face.ts'

export const healthClaims = {
  name: 'health-claims',
  is: 'finds health claims in the texts of a store',
  uses: [],
} as const satisfies Face
