import { type Static, Type } from 'typebox'
import {
  AMOUNT_CENTS_MAX,
  Amount,
  Cents,
  Currency,
  CustomerRef,
  Email,
  Id,
  Nullable,
  Shared,
  Timestamp,
} from '../../kernel/schema.ts'

export const GIFT_CARD_STATUSES = ['active', 'depleted', 'disabled', 'expired'] as const
export const GiftCardStatus = Type.Enum([...GIFT_CARD_STATUSES])
export type GiftCardStatus = Static<typeof GiftCardStatus>

export const GiftCard = Shared(
  'GiftCard',
  Type.Object({
    id: Id,
    code_last4: Type.String(),
    initial_balance_cents: Cents,
    balance_cents: Cents,
    held_cents: Type.Integer({ minimum: 0, description: 'The amount that orders hold, in cents.' }),
    currency: Type.String(),
    status: GiftCardStatus,
    expires_at: Nullable(Timestamp),
    issued_order_id: Nullable(Id),
    order_item_id: Nullable(
      Type.String({ ...Id, description: 'The line of the order that bought the card.' }),
    ),
    send_at: Nullable(
      Type.String({ ...Timestamp, description: 'When its mail is sent; null for at once.' }),
    ),
    sent_at: Nullable(
      Type.String({ ...Timestamp, description: 'When its code was mailed to the recipient.' }),
    ),
    refund_pending: Type.Boolean({
      description: 'A refund is taking the card back. It cannot be used until that has ended.',
    }),
    recipient_email: Nullable(Type.String()),
    customer_ref: Nullable(Type.String()),
    note: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
)
export type GiftCard = Static<typeof GiftCard>

const Code = Nullable(
  Type.String({
    description: 'The code. A replay of the same request shows it for 24 hours, then null.',
  }),
)

const terms = {
  initial_balance_cents: Amount,
  currency: Type.Optional(Currency),
  expires_at: Type.Optional(Nullable(Timestamp)),
  note: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
}

export const NewGiftCard = Type.Object({
  ...terms,
  recipient_email: Type.Optional(Nullable(Email)),
  customer_ref: Type.Optional(Nullable(CustomerRef)),
})
export type NewGiftCard = Static<typeof NewGiftCard>

/** The most cards of a batch. With two entries and a transaction each, they take well under a second. */
export const BATCH_MAX = 1_000

export const NewBatch = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: BATCH_MAX }),
  ...terms,
})
export type NewBatch = Static<typeof NewBatch>

export const IssuedCard = Type.Object({ gift_card: GiftCard, code: Code })

export const IssuedBatch = Type.Object({
  gift_cards: Type.Array(Type.Object({ ...GiftCard.properties, code: Code })),
})

export const GiftCardPatch = Type.Object({
  expires_at: Type.Optional(Nullable(Timestamp)),
  recipient_email: Type.Optional(
    Type.Unsafe<Static<typeof Email>>({
      ...Email,
      description: 'Only while the code has not been mailed.',
    }),
  ),
  note: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
})
export type GiftCardPatch = Static<typeof GiftCardPatch>

export const Adjustment = Type.Object({
  delta_cents: Type.Integer({
    minimum: -AMOUNT_CENTS_MAX,
    maximum: AMOUNT_CENTS_MAX,
    not: { const: 0 },
  }),
  reason: Type.String({ minLength: 1, maxLength: 500 }),
})
export type Adjustment = Static<typeof Adjustment>

export const GiftCardTransaction = Shared(
  'GiftCardTransaction',
  Type.Object({
    id: Id,
    type: Type.Enum(['credit', 'debit', 'hold', 'capture', 'void', 'expire']),
    event: Type.Enum(['issue', 'adjustment', 'order', 'refund', 'expiration']),
    amount_cents: Type.Integer({ minimum: 1 }),
    balance_after_cents: Cents,
    order_id: Nullable(Id),
    reason: Nullable(Type.String()),
    actor: Type.String(),
    created_at: Timestamp,
  }),
)
export type GiftCardTransaction = Static<typeof GiftCardTransaction>

export const CodeToCheck = Type.Object({ code: Type.String() })

/** What a caller that knows the code may see. */
export const ShownBalance = Type.Object({
  code_last4: Type.String(),
  balance_cents: Type.Integer({ description: 'The amount that can be spent now, in cents.' }),
  currency: Type.String(),
  status: GiftCardStatus,
  expires_at: Nullable(Timestamp),
})
export type ShownBalance = Static<typeof ShownBalance>

/** A card as it is written at its issue. */
export interface CardRow {
  id: string
  code_hmac: Buffer
  code_last4: string
  code_sealed: Buffer
}

export const EncryptedCode = Type.Object({
  id: Id,
  code_hmac: Type.Unsafe<Buffer>({}),
  code_sealed: Type.Unsafe<Buffer>({}),
})

export interface CardFilters {
  status?: GiftCardStatus | undefined
  last4?: string | undefined
}
