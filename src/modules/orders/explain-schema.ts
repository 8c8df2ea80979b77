import { type Static, Type } from 'typebox'
import { Cents, Id, Nullable, Timestamp } from '../../kernel/schema.ts'
import { AttemptKind, GatewayName } from '../payments/schema.ts'
import { FulfillmentStatus, OrderStatus, PaymentStatus } from './schema.ts'
import { ACTIONS } from './status-schema.ts'

const Verb = Type.Enum([...ACTIONS])

/** The attempt whose gateway has not answered. */
const OpenAttempt = Type.Object({
  attempt_id: Type.String({
    ...Id,
    description: 'The id of the attempt, which is our reference at the gateway.',
  }),
  kind: AttemptKind,
  gateway: GatewayName,
  amount_cents: Cents,
  since: Timestamp,
  checks: Type.Integer({ description: 'How often the gateway has been asked for the outcome.' }),
  next_check_at: Type.Unsafe<string | null>({
    ...Nullable(Timestamp),
    description: 'When the gateway is asked again.',
  }),
  gives_up_at: Type.Unsafe<string | null>({
    ...Nullable(Timestamp),
    description: 'Of a refund that was sent: from then on a missing record means that it failed.',
  }),
  meaning: Type.String({ description: 'What happens next, in words.' }),
})

/** A refund that has not ended. */
const PendingRefund = Type.Object({ refund_id: Id, amount_cents: Cents, created_at: Timestamp })

/** A subscription that the order started. */
const OrderSubscription = Type.Object({
  id: Id,
  variant_id: Id,
  status: Type.String({ examples: ['active'] }),
  next_charge_at: Nullable(Timestamp),
})

const Facts = Type.Unsafe<
  Record<string, unknown> & {
    waiting_for: Static<typeof OpenAttempt> | null
    pending_refunds: Static<typeof PendingRefund>[]
    subscriptions: Static<typeof OrderSubscription>[]
  }
>(
  Type.Object(
    {
      waiting_for: Nullable(OpenAttempt),
      pending_refunds: Type.Array(PendingRefund),
      subscriptions: Type.Array(OrderSubscription),
    },
    { additionalProperties: true },
  ),
)

/** Why an order has its status, and which actions are possible now. */
export const Explanation = Type.Object({
  status: OrderStatus,
  payment_status: PaymentStatus,
  fulfillment_status: FulfillmentStatus,
  facts: Facts,
  rule: Type.Object({ number: Type.Integer(), status: OrderStatus, meaning: Type.String() }),
  busy: Type.Boolean({
    description: 'True: a payment, refund, edit, cancellation or release is in progress.',
  }),
  allowed: Type.Array(Verb, {
    description: 'The actions that are possible now. `pay` is for the shopper alone.',
  }),
  refused: Type.Array(Type.Object({ action: Verb, reason: Type.String(), meaning: Type.String() })),
})
export type Explanation = Static<typeof Explanation>
