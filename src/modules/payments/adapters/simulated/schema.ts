import { type Static, Type } from 'typebox'
import { Cents, Currency, Id, Nullable, Shared, Timestamp } from '../../../../kernel/schema.ts'
import { CardFacts } from '../schema.ts'

/** A charge in the simulated gateway's own record. */
export const SimCharge = Shared(
  'SimulatedCharge',
  Type.Object({
    txn_id: Id,
    ref: Id,
    amount_cents: Cents,
    currency: Currency,
    outcome: Type.Enum(['approved', 'declined', 'error']),
    code: Type.String(),
    auth_code: Nullable(Type.String()),
    avs: Nullable(Type.String()),
    cvv: Nullable(Type.String()),
    card: CardFacts,
    captured_cents: Cents,
    refunded_cents: Cents,
    vault_id: Nullable(Id),
    captured_at: Nullable(Timestamp),
    voided_at: Nullable(Timestamp),
    dispute_at: Nullable(Timestamp),
    created_at: Timestamp,
    journal: Type.Array(
      Type.Object({
        ref: Id,
        kind: Type.Enum(['authorize', 'capture', 'void', 'refund']),
        amount_cents: Cents,
        outcome: Type.Enum(['approved', 'declined', 'error']),
      }),
    ),
  }),
)
export type SimCharge = Static<typeof SimCharge>
