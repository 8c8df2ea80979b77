import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  unknown_provider: [404, 'No such provider or account. Check both names in the path.'],
  gateway_event_not_found: [404, 'No such event of that provider and account. Check its id.'],
  gateway_account_taken: [409, 'The account belongs to another store. Delete it there first.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
