import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  pricing_group_not_found: [404, 'No such pricing group. Check its id.'],
  member_not_found: [404, 'The customer is not in this group. Check `customer_ref`.'],
  price_not_found: [404, 'The group has no such price. Check `variant_id` and `min_quantity`.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
