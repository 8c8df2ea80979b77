import type { Face } from '../face.ts'

export const media = {
  name: 'media',
  is: 'pictures and fonts of a store, and their resized forms',
  uses: ['stores'],
} as const satisfies Face
