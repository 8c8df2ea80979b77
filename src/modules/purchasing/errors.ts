import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  vendor_not_found: [404, 'No such vendor, or it is archived. Check its id.'],
  purchase_order_not_found: [404, 'No such purchase order. Check its id.'],
  exceeds_ordered: [
    422,
    'More would be received than was ordered. Send at most the numbers in `lines`.',
  ],
  receipt_decreased: [
    422,
    'A receipt names the total received so far, which cannot become smaller. Send at least the numbers in `lines`.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
