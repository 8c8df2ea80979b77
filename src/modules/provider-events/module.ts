import { HOUR_MS } from '../../kernel/time.ts'
import { bySlice, forGood, STORE } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'
import { gatewayEventsSlice } from './retention-queries.ts'

export const providerEvents = {
  name: 'provider-events',
  is: 'the events that providers send to us',
  uses: ['payments', 'stores'],
  tables: {
    gateway_accounts: forGood(STORE),
    gateway_events: bySlice(
      'RETENTION_GATEWAY_EVENT_DAYS',
      'older than the period and handled; their bodies go after 30 days (loop `gateway upkeep`)',
      gatewayEventsSlice,
    ),
  },
  errors: ERRORS,
  routes: async ({ database, operatorDatabase, clock, key, limits }) => {
    const [
      { operatorRoutes, publicRoutes },
      { openProviderEvents },
      { acceptAnyDigits },
      { callerOf },
    ] = await Promise.all([
      import('./routes.ts'),
      import('./service.ts'),
      import('../../http/card-text.ts'),
      import('../../platform/rate-limits.ts'),
    ])
    const deps = openProviderEvents({ database, clock, key: key('gateway signing key') })
    return {
      public: [acceptAnyDigits(publicRoutes({ ...deps, limits, callerOf }))],
      operator: [operatorRoutes({ ...deps, operator: operatorDatabase.allStores })],
    }
  },
  loops: async ({ workerDatabase: database }) => {
    const { eraseOldBodies } = await import('./jobs.ts')
    return [loop('gateway upkeep', HOUR_MS, () => eraseOldBodies(database))]
  },
} as const satisfies Face
