import { SECOND_MS } from '../../kernel/time.ts'
import { forGood, STORE } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const domains = {
  name: 'domains',
  is: 'the hostnames of a store, their verification and certificates',
  uses: ['stores'],
  tables: {
    domains: forGood(STORE),
  },
  limits: () => import('./limits.ts'),
  errors: ERRORS,
  routes: async (house) => {
    const [{ merchantRoutes, operatorRoutes }, { openDomains }] = await Promise.all([
      import('./routes.ts'),
      import('./open.ts'),
    ])
    const deps = openDomains(house)
    return { merchant: [merchantRoutes(deps)], operator: [operatorRoutes(deps)] }
  },
  loops: async (house) => {
    const [{ recheckDue }, { openDomains }] = await Promise.all([
      import('./jobs.ts'),
      import('./open.ts'),
    ])
    const { findTxt, asksForTls } = openDomains(house)
    return [
      loop('domains', 10 * SECOND_MS, (signal) =>
        recheckDue(house.workerDatabase, findTxt, { signal, asksForTls }),
      ),
    ]
  },
} as const satisfies Face
