import { type Static, Type } from 'typebox'
import { Cents, Pattern, ref } from '../../kernel/schema.ts'
import { MerchantOrder } from '../orders/schema.ts'
import { Unsettled } from '../payments/schema.ts'

export const Resolution = Type.Object({
  outcome: Type.Enum(['approved', 'declined', 'not_found'], {
    description:
      "What the gateway's back office shows. `approved`: the capture, refund or void was made. An authorisation alone is not approved: capture it there first, or void it there and send `declined`. `declined`: it was refused, or reversed there. `not_found`: there is no record of it.",
  }),
  txn_id: Type.Optional(
    Pattern('^[\\x21-\\x7e]{1,100}$', 'must be 1 to 100 visible ASCII characters', {
      description: 'The id of the transaction at the gateway. Required with `approved`.',
    }),
  ),
  amount_cents: Type.Optional(
    Type.Integer({
      ...Cents,
      description:
        'The amount that was captured, refunded or voided there, in cents. Required with `approved`.',
    }),
  ),
  reason: Pattern('\\S', 'must not be blank', {
    maxLength: 2_000,
    description: 'Who checked, where, and what the record shows. It is written to the audit trail.',
  }),
})
export type Resolution = Static<typeof Resolution>

export const Resolved = Type.Object({
  payment: ref(Unsettled),
  decided_by: Type.Enum(['operator', 'gateway'], {
    description: 'The gateway is asked once more first. If it answers, its reply decides.',
  }),
  order: ref(MerchantOrder),
})
export type Resolved = Static<typeof Resolved>
