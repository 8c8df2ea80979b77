import type { Bound } from '../face-parts.ts'
import { CODES_MAX } from './service.ts'

export const bounds: readonly Bound[] = [
  {
    limit: 'codes_per_affiliate',
    description: 'Referral codes of an affiliate.',
    max: CODES_MAX,
  },
]
