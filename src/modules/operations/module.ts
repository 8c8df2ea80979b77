import type { Face } from '../face.ts'

export const operations = {
  name: 'operations',
  is: 'the engine of changes that move money and survive a crash',
  uses: ['payments'],
} as const satisfies Face
