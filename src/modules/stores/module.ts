import { handle } from '../../platform/outbox.ts'
import { forGood, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const stores = {
  name: 'stores',
  is: 'the stores of the installation: their state, profile and settings',
  uses: [],
  tables: {
    stores: forGood(STORE),
  },
  errors: ERRORS,
  routes: async ({ database, operatorDatabase }) => {
    const { merchantRoutes, operatorRoutes } = await import('./routes.ts')
    return {
      merchant: [merchantRoutes],
      operator: [operatorRoutes({ database, operator: operatorDatabase.allStores })],
    }
  },
  hears: async () => {
    const { PROVISIONED } = await import('./service.ts')
    // Tells that a store exists. No part of the platform has anything to do then.
    return { [PROVISIONED.type]: handle(PROVISIONED, () => Promise.resolve()) }
  },
} as const satisfies Face
