import { until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
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
} as const satisfies Face
