import type { Face } from '../face.ts'

export const gateway = {
  name: 'gateway',
  is: 'the events that providers send to us',
  uses: ['stores'],
} as const satisfies Face
