import { SECOND_MS } from '../../kernel/time.ts'
import { owner, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const testClock = {
  name: 'test-clock',
  is: 'moves the time of a sandbox store',
  uses: ['orders', 'payments', 'stores'],
  tables: {
    test_clock_runs: until("the store's time is moved again", 'test clocks'),
    test_clocks: owner('stores', 'one row for each sandbox'),
  },
  errors: ERRORS,
  routes: async ({ clocks, workerDatabase, payments, listDueWork }) => {
    const { merchantRoutes, operatorRoutes } = await import('./routes.ts')
    return {
      merchant: [merchantRoutes({ clocks, workerDatabase, work: await listDueWork() })],
      operator: [operatorRoutes(payments.deps)],
    }
  },
  loops: async ({ workerDatabase: database, clocks, logger, listDueWork }) => {
    const { moveClocks } = await import('./jobs.ts')
    const deps = {
      database,
      clocks,
      work: await listDueWork(),
      onAlert: (alert: Record<string, unknown>, message: string) => logger.error(alert, message),
    }
    return [loop('test clocks', SECOND_MS / 2, (signal) => moveClocks(deps, signal))]
  },
} as const satisfies Face
