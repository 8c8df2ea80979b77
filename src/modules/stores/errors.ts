import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  currency_fixed: [
    409,
    'The store has orders, gift cards or store credit in its currency. Create another store for another currency.',
  ],
  no_active_version: [409, 'The store has no published site. Publish a version first.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
