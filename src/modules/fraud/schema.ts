import { type Static, Type } from 'typebox'
import { Id, Nullable, OpenObject, Shared, Timestamp } from '../../kernel/schema.ts'
import type { FraudSettings } from './settings-schema.ts'

export const BAN_KINDS = [
  'email',
  'email_domain',
  'ip',
  'cidr',
  'customer_ref',
  'card_fingerprint',
  'card_bin',
  'address',
] as const
export const BanKind = Type.Enum([...BAN_KINDS])
export type BanKind = Static<typeof BanKind>

export const BanAction = Type.Enum(['block', 'review'])
export type BanAction = Static<typeof BanAction>

/** The facts about a shopper at a checkout. All but the reference may be missing. */
export interface Facts {
  customer_ref: string
  email?: string | null | undefined
  ip?: string | null | undefined
  card_fingerprint?: string | null | undefined
  /** The first digits of the card: six to eight of them. */
  card_bin?: string | null | undefined
  /** The shipping address. */
  address?: Address | null | undefined
}

export interface Address {
  line1?: string | null | undefined
  line2?: string | null | undefined
  city?: string | null | undefined
  state?: string | null | undefined
  postal_code?: string | null | undefined
  country?: string | null | undefined
}

export const Ban = Shared(
  'FraudBan',
  Type.Object({
    id: Id,
    kind: BanKind,
    value: Type.String({
      description: 'The normalised value. Of a card fingerprint, only the beginning of its digest.',
    }),
    action: BanAction,
    reason: Nullable(Type.String()),
    expires_at: Nullable(Timestamp),
    created_by: Type.String(),
    created_at: Timestamp,
    hits: Type.Integer({ description: 'The number of attempts that matched this ban.' }),
    active: Type.Boolean({ description: 'True: the ban is neither lifted nor expired.' }),
    lifted_at: Nullable(Timestamp),
    lifted_by: Nullable(Type.String()),
  }),
)
export type Ban = Static<typeof Ban>

const terms = {
  action: Type.Optional(BanAction),
  reason: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
  expires_at: Type.Optional(Nullable(Timestamp)),
}

export const NewBan = Type.Object({
  kind: BanKind,
  value: Type.String({ minLength: 1, maxLength: 500 }),
  ...terms,
})
export type NewBan = Static<typeof NewBan>

/** The terms of a ban. By default it blocks, never expires and has no reason. */
export const BanTerms = Type.Object(terms)
export type BanTerms = Static<typeof BanTerms>

/** A ban that matches a shopper. */
/** An active ban, or the settings of the store. */
export const FoundBan = Type.Object({
  id: Nullable(Id),
  action: Nullable(BanAction),
  settings: Nullable(OpenObject),
})

export interface BanVerdict {
  decision: 'allow' | 'review' | 'block'
  ban_ids: string[]
  /** The settings of the store, whether or not it has the add-on; null if it has set none. */
  settings: FraudSettings | null
}

export const DECISIONS = ['accepted', 'review', 'rejected'] as const
export const Decision = Type.Enum([...DECISIONS])
export type Decision = Static<typeof Decision>

export const SIGNALS = ['ban', 'velocity', 'avs', 'cvv', 'fraud_signal'] as const

/** A sign of fraud, and its points. */
export const Signal = Type.Object({
  signal: Type.Enum([...SIGNALS]),
  points: Type.Integer({ minimum: 0 }),
  detail: Nullable(
    Type.String({
      maxLength: 40,
      description: 'A code, for example of the gateway. Never personal data.',
    }),
  ),
})
export type Signal = Static<typeof Signal>

export const FraudDecision = Shared(
  'FraudDecision',
  Type.Object({
    id: Id,
    order_id: Nullable(Id),
    decision: Decision,
    score: Type.Integer(),
    signals: Type.Array(Signal),
    ban_ids: Type.Array(Id),
    created_at: Timestamp,
  }),
)
export type FraudDecision = Static<typeof FraudDecision>

export interface NewDecision {
  /** Null: refused before the order was written, or a new card of a subscription. */
  order_id: string | null
  decision: Decision
  score: number
  signals: readonly Signal[]
  ban_ids?: readonly string[]
}
