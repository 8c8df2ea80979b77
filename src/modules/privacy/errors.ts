import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  export_not_found: [404, 'No such export, or it has expired. Request a new one.'],
  erasure_too_broad: [
    409,
    'More than 100 other customers share an e-mail address with this one, so the address identifies no single person. Ask the operator.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
