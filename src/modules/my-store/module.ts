import type { Face } from '../face.ts'

export const myStore = {
  name: 'my-store',
  is: 'what a store is shown of itself: its state, its limits, what it lacks',
  uses: ['catalog', 'credentials', 'domains', 'entitlements', 'health-claims', 'sites', 'stores'],
} as const satisfies Face
