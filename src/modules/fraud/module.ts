import type { Face } from '../face.ts'

export const fraud = {
  name: 'fraud',
  is: 'bans, velocity rules and the risk of an order',
  uses: ['entitlements'],
} as const satisfies Face
