import { forGood, STORE } from '../../platform/retention.ts'
import type { Face } from '../face.ts'
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
} as const satisfies Face
