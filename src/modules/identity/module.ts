import type { Face } from '../face.ts'

export const identity = {
  name: 'identity',
  is: 'the owners of stores: sign-up, login, sessions',
  uses: [],
} as const satisfies Face
