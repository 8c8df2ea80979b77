import { type Static, Type } from 'typebox'
import { Cents, Pattern, ref } from '../../kernel/schema.ts'
import { MerchantOrder } from '../orders/schema.ts'
import { Unsettled } from '../payments/schema.ts'

export const Resolution = Type.Object({
  outcome: Type.Enum(['approved', 'declined', 'not_found'], {
    description:
      "What the gateway's back office shows. `approved`: the money was taken (an authorisation alone is not: capture it there first, or void it and say `declined`), given back or let go. `declined`: it was refused, or undone there. `not_found`: there is no trace of it.",
  }),
  txn_id: Type.Optional(
    Pattern('^[\\x21-\\x7e]{1,100}$', 'must be 1 to 100 visible ASCII characters', {
      description: 'Of the transaction there. Needed with `approved`.',
    }),
  ),
  amount_cents: Type.Optional(
    Type.Integer({
      ...Cents,
      description: 'What was taken, given back or let go there. Needed with `approved`.',
    }),
  ),
  reason: Pattern('\\S', 'must not be blank', {
    maxLength: 2_000,
    description: 'Who looked, where, and what was seen. It is put on record.',
  }),
})
export type Resolution = Static<typeof Resolution>

export const Resolved = Type.Object({
  payment: ref(Unsettled),
  decided_by: Type.Enum(['operator', 'gateway'], {
    description: 'The gateway is asked once more first: if it answers, its word counts.',
  }),
  order: ref(MerchantOrder),
})
export type Resolved = Static<typeof Resolved>
