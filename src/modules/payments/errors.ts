import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  gateway_refused: [
    422,
    'The provider does not accept the credential. Copy it again from its control panel, with the permission to look up transactions.',
  ],
  gateway_unavailable: [
    503,
    'The provider did not answer, so the credential was not checked and nothing has changed. Try again in a moment.',
  ],
  gateway_busy: [409, 'A payment at this account has no outcome yet. Try again once it has.'],
  sandbox_store: [
    409,
    'A sandbox store pays with the simulated gateway alone. Use a store that is no sandbox.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
