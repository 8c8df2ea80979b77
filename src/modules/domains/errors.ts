import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  domain_not_found: [404, 'No such domain. Check its id.'],
  hostname_taken: [409, 'Another store has that hostname. Use another, or ask the operator.'],
  domain_not_active: [409, 'The domain is not active. Verify it first.'],
  domain_limit_reached: [409, 'The store has the maximum number of domains. Remove one first.'],
  hostname_invalid: [422, 'A store cannot have that hostname. Use a domain name of your own.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
