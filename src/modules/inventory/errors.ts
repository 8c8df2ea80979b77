import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  count_not_found: [404, 'No such count. Check its id.'],
  stale_level: [409, 'The stock has changed since it was read. Read it again, then adjust it.'],
  count_in_progress: [
    409,
    'One of these variants is being counted at this location already. Post or cancel that count first.',
  ],
  location_exists: [409, 'A location with that id already exists. Choose another id.'],
  location_in_use: [409, 'The location still has units on hand, reserved or owed. Empty it first.'],
  stock_below_zero: [422, 'Stock cannot be negative. Send a smaller reduction.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
