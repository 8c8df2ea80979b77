import { SECOND_MS } from '../../kernel/time.ts'
import { forGood, owner, STORE } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'
import { ERRORS } from './errors.ts'

export const segments = {
  name: 'segments',
  is: 'groups of people by what they bought and agreed to',
  uses: ['ledger', 'subscriptions'],
  tables: {
    segment_people: owner('orders', 'or the subscriber; counted again when either is erased'),
    segment_positions: owner('stores', 'one row for each'),
    segment_purchases: owner('segment_people'),
    segments: forGood(STORE),
  },
  counted: {
    segments: 'Segments.',
  },
  errors: ERRORS,
  routes: async () => ({ merchant: [(await import('./routes.ts')).merchantRoutes] }),
  loops: async ({ workerDatabase: database }) => {
    const { countPeople } = await import('./jobs.ts')
    return [loop('segments', 5 * SECOND_MS, (signal) => countPeople(database, signal))]
  },
} as const satisfies Face
