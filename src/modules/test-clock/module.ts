import type { Face } from '../face.ts'

export const testClock = {
  name: 'test-clock',
  is: 'moves the time of a sandbox store',
  uses: ['orders', 'payments', 'stores'],
} as const satisfies Face
