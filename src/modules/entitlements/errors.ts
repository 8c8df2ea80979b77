import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  unknown_feature: [400, 'No such add-on. `GET /v1/my/entitlements` lists the add-ons.'],
  not_self_serve: [403, 'Merchants cannot switch this add-on. Request it from the operator.'],
  already_enabled: [409, 'The add-on is already enabled. No request is needed.'],
  self_serve_available: [409, 'This add-on needs no request. Enable it directly.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
