import type { Face } from '../face.ts'

export const domains = {
  name: 'domains',
  is: 'the hostnames of a store, their verification and certificates',
  uses: ['stores'],
} as const satisfies Face
