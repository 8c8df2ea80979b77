import type { Face } from '../face.ts'

export const entitlements = {
  name: 'entitlements',
  is: 'what a store may use and how much it may have: add-ons by tier, and limits',
  uses: [],
} as const satisfies Face
