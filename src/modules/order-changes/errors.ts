import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  charge_not_found: [404, 'The order has no such charge. Check `charge_id`.'],
  stale_order: [
    409,
    'The order has changed since it was read. Read it again, or its preview, then correct it.',
  ],
  customer_erased: [409, 'The customer of the order was erased, so there is no data to correct.'],
  not_refundable: [409, 'There is nothing to refund: nothing was captured, or nothing is left.'],
  gift_card_issued: [
    409,
    'Gift cards of an order are issued, and their number stays. Refund them instead, which disables them.',
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
