import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  cycle_not_chargeable: [
    409,
    'This cycle is charged or skipped already, or is more than one cycle ahead. Nothing was charged; `chargeable_cycle` names the one that can be.',
  ],
  card_tries_exhausted: [
    409,
    'The card was declined as often as its network allows. Try again after `next_attempt_at`, or with another card.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
