import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  affiliate_not_found: [404, 'No such affiliate. Check the id.'],
  commission_not_found: [404, 'No such commission. Check its id.'],
  payout_not_found: [404, 'No such payout. Check its id.'],
  referral_code_not_found: [
    404,
    'No affiliate has this code, or the code is not active. Check the code.',
  ],
  affiliate_exists: [
    409,
    'An affiliate with that e-mail address already exists. Change that affiliate.',
  ],
  referral_code_exists: [409, 'An affiliate already has that code. Choose another code.'],
  applications_closed: [409, 'The store takes no applications now. Ask its merchant.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
