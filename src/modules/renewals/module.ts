import type { Face } from '../face.ts'
import { ERRORS } from './errors.ts'

export const renewals = {
  name: 'renewals',
  is: 'charges the subscriptions that are due, and tries declined ones again',
  uses: [
    'checkout',
    'operations',
    'orders',
    'payments',
    'provider-events',
    'shipping',
    'subscriptions',
  ],
  errors: ERRORS,
} as const satisfies Face
