import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  version_not_found: [404, 'The site has no such version. `GET /v1/my/site` lists the versions.'],
  invalid_preview_token: [404, 'The preview token is not valid, or has expired. Create a new one.'],
  resolve_unavailable: [503, 'The store could not be read. Try again in a moment.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
