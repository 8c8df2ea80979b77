import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  subscriber_not_found: [404, 'No such subscriber. Check the id.'],
  suppression_not_found: [404, 'No such suppression, or it has been lifted. Check the id.'],
  complaint_stands: [
    409,
    'The reader complained. Only the reader can lift the suppression, by asking for the newsletter again.',
  ],
  code_exists: [409, 'A coupon with that code already exists. Choose another code.'],
  coupon_used: [409, 'The coupon was used, so it stays in its campaign. Create another coupon.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
