import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  order_not_placed: [409, 'The order was not placed, so it has no invoice. Wait until it is paid.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
