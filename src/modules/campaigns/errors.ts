import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  not_a_mail_campaign: [
    409,
    'Only campaigns of the channel `email` send mails. Create one of that channel.',
  ],
  no_owner_address: [
    409,
    'The store has no owner, so a test mail has no address. Ask the operator to set `owner_email`.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
