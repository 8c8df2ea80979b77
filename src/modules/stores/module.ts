import type { Face } from '../face.ts'

export const stores = {
  name: 'stores',
  is: 'the stores of the installation: their state, profile and settings',
  uses: [],
} as const satisfies Face
