import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  unknown_scope: [400, 'No such scope. Use a scope that the API reference names.'],
  scope_escalation: [403, 'A key cannot grant scopes that it does not hold. Leave those out.'],
  credential_not_found: [404, 'No such key. Check its id.'],
  storefront_token_not_found: [404, 'No such storefront token. Check its id.'],
  initial_credential_exists: [409, 'The store has an active initial key. Use it, or revoke it.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
