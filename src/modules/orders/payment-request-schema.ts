import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const REQUEST_STATES = ['open', 'paid', 'withdrawn', 'expired'] as const

/** A request to a shopper to pay for a held order. */
export const PaymentRequest = Shared(
  'PaymentRequest',
  Type.Object({
    order_id: Id,
    purpose: Type.Enum(['order', 'correction'], {
      description:
        '`order`: the order is placed once it is paid. `correction`: it is placed, and is corrected once it is paid.',
    }),
    amount_cents: Type.Unsafe<number>({ ...Cents, description: 'What the shopper has to pay.' }),
    currency: Type.String(),
    status: Type.Enum([...REQUEST_STATES]),
    expires_at: Type.Unsafe<string>({
      ...Timestamp,
      description:
        'When the order is cancelled, or for a correction is as it was before, unless it is paid.',
    }),
    sent_count: Type.Integer({ description: 'How often it was mailed.' }),
    sent_at: Timestamp,
    created_at: Timestamp,
    ended_at: Nullable(Timestamp),
  }),
)
export type PaymentRequest = Static<typeof PaymentRequest>
