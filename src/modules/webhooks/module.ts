import type { Face } from '../face.ts'

export const webhooks = {
  name: 'webhooks',
  is: 'events, numbered for each store, and their delivery to endpoints',
  uses: ['entitlements', 'stores'],
} as const satisfies Face
