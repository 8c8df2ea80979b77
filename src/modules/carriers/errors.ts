import type { CodesOf, ErrorTable } from '../../error-codes.ts'
import { defineErrors } from '../../errors.ts'

export const ERRORS = {
  label_not_found: [404, 'The parcel has no shipping label. Buy one first.'],
  label_exists: [409, 'The parcel has a shipping label. Void it first to buy another.'],
  label_not_voidable: [
    409,
    'The carrier does not void the label: it was used, or is too old. Settle its cost with the carrier.',
  ],
  ship_to_missing: [
    409,
    'The order has no shipping address, which a label needs. Ship the parcel without one.',
  ],
  label_refused: [
    422,
    'The carrier refused to sell the label: see `reason`. Correct what it names, or take another service.',
  ],
  unknown_service: [422, 'The carrier has no such service. `services` lists its services.'],
  carrier_unavailable: [503, 'The carrier does not answer. Try again in a moment.'],
} as const satisfies ErrorTable

declare module '../../error-codes.ts' {
  interface OwnCodes extends CodesOf<typeof ERRORS> {}
}

export const refuse = defineErrors(ERRORS)
