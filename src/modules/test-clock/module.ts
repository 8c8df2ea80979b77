import { owner, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
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
} as const satisfies Face
