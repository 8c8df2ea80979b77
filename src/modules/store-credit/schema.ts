import { type Static, Type } from 'typebox'
import { Amount, Cents, Currency, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const StoreCreditAccount = Shared(
  'StoreCreditAccount',
  Type.Object({
    id: Id,
    customer_ref: Type.String(),
    currency: Type.String(),
    balance_cents: Cents,
    held_cents: Type.Integer({ minimum: 0, description: 'The amount that orders hold, in cents.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type StoreCreditAccount = Static<typeof StoreCreditAccount>

export const EVENTS = ['adjustment', 'order', 'refund', 'return', 'expiration'] as const

export const StoreCreditTransaction = Shared(
  'StoreCreditTransaction',
  Type.Object({
    id: Id,
    currency: Type.String(),
    type: Type.Enum(['credit', 'debit', 'hold', 'capture', 'void', 'expire']),
    event: Type.Enum([...EVENTS]),
    amount_cents: Type.Integer({ minimum: 1 }),
    balance_after_cents: Cents,
    order_id: Nullable(Id),
    reason: Nullable(Type.String()),
    actor: Type.String(),
    created_at: Timestamp,
  }),
)
export type StoreCreditTransaction = Static<typeof StoreCreditTransaction>

const Reason = Type.String({ minLength: 1, maxLength: 500 })

export const NewCredit = Type.Object({
  amount_cents: Amount,
  currency: Currency,
  reason: Reason,
  expires_at: Type.Optional(Nullable(Timestamp)),
  order_id: Type.Optional(Nullable(Id)),
})
export type NewCredit = Static<typeof NewCredit>

export const NewDebit = Type.Object({
  amount_cents: Amount,
  currency: Currency,
  reason: Reason,
  order_id: Type.Optional(Nullable(Id)),
})
export type NewDebit = Static<typeof NewDebit>

export const MovedCredit = Type.Object({
  account: StoreCreditAccount,
  transaction: StoreCreditTransaction,
})

/** The amount that is taken from one lot. */
export interface Share {
  id: string
  amount_cents: number
}

export const OpenLot = Type.Object({
  id: Id,
  remaining_cents: Type.Integer(),
  expired: Type.Boolean(),
  expires_at: Nullable(Timestamp),
})

/** A lot that an order was paid from. */
export const SpentLot = Type.Object({
  id: Id,
  spent_cents: Type.Integer(),
  expires_at: Nullable(Timestamp),
})
