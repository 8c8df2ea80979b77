import { HOUR_MS } from '../../kernel/time.ts'
import { until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const identity = {
  name: 'identity',
  is: 'the owners of stores: sign-up, login, sessions',
  uses: [],
  tables: {
    owner_callers: until('unused for 90 days', 'session upkeep'),
    owner_sessions: until('expired', 'session upkeep'),
    owners: until('3 days after the sign-up, if not verified', 'session upkeep'),
  },
  errors: ERRORS,
  routes: async ({ owners, limited }) => {
    const [routes, pages] = await Promise.all([import('./routes.ts'), import('./page-routes.ts')])
    return {
      public: [routes.publicRoutes(owners, limited), pages.pageRoutes(owners, limited)],
      owner: [routes.ownerRoutes(owners, limited)],
    }
  },
  loops: async ({ workerDatabase }) => {
    const { deleteOldRows } = await import('./jobs.ts')
    return [loop('session upkeep', HOUR_MS, () => deleteOldRows(workerDatabase.directory))]
  },
} as const satisfies Face
