import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  stale_subscription: [
    409,
    'The subscription has changed since that version was read. Read it again, then change it.',
  ],
  cycle_closed: [
    409,
    'This cycle is over, or too far ahead. `next_charges` and `skipped` list the cycles to come.',
  ],
  not_subscribable: [
    422,
    'The product of this variant cannot be subscribed to. Choose a variant of a product that can.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
