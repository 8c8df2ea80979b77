import { MINUTE_MS } from '../../kernel/time.ts'
import { bySlice, forGood, STORE, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'
import { fraudDecisionsSlice } from './retention-queries.ts'

export const fraud = {
  name: 'fraud',
  is: 'bans, velocity rules and the risk of an order',
  uses: ['entitlements'],
  tables: {
    fraud_ban_hits: until('added to their ban', 'fraud hits'),
    fraud_bans: forGood(STORE),
    fraud_decisions: bySlice(
      'RETENTION_FRAUD_DAYS',
      'older than the period, and their order is not on hold',
      fraudDecisionsSlice,
    ),
    fraud_settings: forGood(STORE),
  },
  counted: {
    bans: 'Fraud bans, lifted ones included.',
  },
  errors: ERRORS,
  routes: async ({ config }) => {
    const { merchantRoutes } = await import('./routes.ts')
    return { merchant: [merchantRoutes({ velocityLimit: config.CHECKOUT_VELOCITY_PER_MINUTE })] }
  },
  loops: async ({ workerDatabase: database }) => {
    const { addHitsToBans } = await import('./jobs.ts')
    return [loop('fraud hits', MINUTE_MS, (signal) => addHitsToBans(database, signal))]
  },
} as const satisfies Face
