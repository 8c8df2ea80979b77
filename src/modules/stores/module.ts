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
} as const satisfies Face
