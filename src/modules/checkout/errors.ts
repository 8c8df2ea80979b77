import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  attestation_required: [403, "The shopper must accept the store's statement. Send `attestation`."],
  payment_not_found: [404, 'No such payment. Check `attempt_id`.'],
  idempotency_key_not_found: [404, 'No such Idempotency-Key of that operation. Check both.'],
  payment_not_resolvable: [409, 'This payment cannot be resolved by hand now. See `reason`.'],
  subscription_card_required: [
    422,
    'A subscription needs a card for its renewals, and other tenders cover this order. Order without `subscribe`, or let the card pay a part.',
  ],
  feature_disabled: [
    422,
    "The store's checkout does not offer that tender or subscription. Send the request without it.",
  ],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
