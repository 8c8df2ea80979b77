import { type Static, Type } from 'typebox'
import { Cents, Currency, Id, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import type {
  CardScript,
  CredentialShape,
  Credentials as CredentialsOf,
} from './adapters/adapter.ts'
import { ADAPTERS, GATEWAY_NAMES } from './adapters/all.ts'
import { CardFacts } from './adapters/schema.ts'

/** Rows may have the name of a gateway that only a newer process knows, so that the type is a text. */
export const GatewayName = Type.Unsafe<string>(Type.Enum([...GATEWAY_NAMES]))
export type GatewayName = Static<typeof GatewayName>

export const ATTEMPT_KINDS = [
  'checkout',
  'edit',
  'refund',
  'release',
  'void',
  'renewal',
  'pay',
] as const
export const AttemptKind = Type.Enum([...ATTEMPT_KINDS])
export type AttemptKind = Static<typeof AttemptKind>

export const ATTEMPT_STATES = [
  'begun',
  'unknown',
  'approved',
  'declined',
  'error',
  'not_found',
  'voided',
] as const

/** One request to a gateway to move money. Its id is our reference at the gateway. */
export const Attempt = Type.Object({
  id: Id,
  order_id: Id,
  kind: AttemptKind,
  gateway: GatewayName,
  amount_cents: Cents,
  currency: Currency,
  charge_id: Nullable(Id),
  parent_txn_id: Nullable(Type.String()),
  state: Type.Enum([...ATTEMPT_STATES]),
  txn_id: Nullable(Type.String()),
  auth_code: Nullable(Type.String()),
  avs: Nullable(Type.String()),
  cvv: Nullable(Type.String()),
  code: Nullable(Type.String()),
  network_code: Nullable(Type.String()),
  advice_code: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  fraud_signal: Type.Boolean(),
  vault_id: Nullable(Type.String()),
  card: Nullable(CardFacts),
  checks: Type.Integer(),
  created_at: Timestamp,
  /** Null if it was not sent yet. Only refunds and voids are recorded unsent. */
  sent_at: Nullable(Timestamp),
  closed_at: Nullable(Timestamp),
})
export type Attempt = Static<typeof Attempt>

/**
 * How long a gateway has to answer for a payment. After that an operator may decide how it ended.
 */
export const ANSWER_WAIT_HOURS = 2

/**
 * How long after a refund was sent a missing record at its gateway proves nothing. A charge that
 * arrives late can be voided, a refund cannot be undone: so it waits longer than any queue or proxy
 * on the way holds a request up, and shorter than an operator waits to decide it by hand (decision 0025).
 */
export const REFUND_TRANSIT_MS = HOUR_MS

/** The outcome of a payment, as an operator read it in the gateway's back office. */
export interface OperatorDecision {
  outcome: 'approved' | 'declined' | 'not_found'
  txn_id?: string | undefined
}

/** A payment whose outcome is unknown: its gateway has not answered for hours. */
export const Unsettled = Shared(
  'UnsettledPayment',
  Type.Object({
    attempt_id: Type.String({
      ...Id,
      description: 'The id of the attempt, which is our reference at the gateway.',
    }),
    order_id: Id,
    kind: AttemptKind,
    gateway: GatewayName,
    amount_cents: Cents,
    currency: Currency,
    state: Attempt.properties.state,
    txn_id: Nullable(Type.String()),
    parent_txn_id: Nullable(
      Type.String({ description: 'The transaction that this attempt captures, voids or refunds.' }),
    ),
    created_at: Timestamp,
    closed_at: Nullable(Timestamp),
  }),
)
export type Unsettled = Static<typeof Unsettled>

/** An unsettled payment with its store, for the list of all stores. */
export const UnsettledOfStore = Shared(
  'UnsettledPaymentOfStore',
  Type.Object({ tenant_ref: Type.String(), ...Unsettled.properties }),
)

export interface NewAttempt {
  id: string
  order_id: string
  kind: AttemptKind
  gateway: GatewayName
  amount_cents: number
  currency: string
  charge_id?: string | null
  /** The transaction that is captured, voided or refunded. */
  parent_txn_id?: string | null
  /** Whether it is marked as sent later, by `markSent`. Otherwise it counts as sent from the start. */
  isUnsent?: boolean
}

/** The gateway of a store. The credential itself is never shown. */
export const PaymentSettings = Shared(
  'PaymentSettings',
  Type.Object({
    gateway: GatewayName,
    account: Type.Enum(['store', 'installation'], {
      description:
        "Which account at the gateway is used: the store's own, or that of the installation.",
    }),
    credential_hint: Nullable(
      Type.String({ description: "The last four characters of the store's own credential." }),
    ),
    tokenization_key: Nullable(
      Type.String({
        description:
          "The public key of the account: with it, storefronts show the gateway's own card fields. Not a secret.",
      }),
    ),
    updated_at: Nullable(Timestamp),
  }),
)
export type PaymentSettings = Static<typeof PaymentSettings>

const shapeOf = ({ members }: CredentialShape) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(members).map(([name, { pattern, expected, ...options }]) => [
        name,
        Pattern(pattern, expected, options),
      ]),
    ),
  )

/** The gateways at which a store may have an account of its own. */
const WITH_ACCOUNTS = ADAPTERS.filter(({ credentials }) => credentials !== null)

const SHAPES = ADAPTERS.flatMap(({ credentials }) =>
  credentials === null ? [] : [shapeOf(credentials)],
)

/** The credentials of any gateway. Those of one gateway are no union, so that a fault names its member. */
const Credentials = Type.Unsafe<CredentialsOf>(
  SHAPES.length === 1 && SHAPES[0] !== undefined ? SHAPES[0] : Type.Union(SHAPES),
)

const TokenizationKey = Type.Optional(
  Nullable(
    Pattern('^[A-Za-z0-9_-]+$', 'must be letters, digits, dashes and underscores', {
      minLength: 8,
      maxLength: 100,
      description:
        "The public key of the store's own account, for the gateway's card fields. Left out, it stays as it is; null removes it.",
    }),
  ),
)

export const SettingsChange = Type.Object({
  gateway: GatewayName,
  credentials: Type.Optional(Credentials),
  tokenization_key: TokenizationKey,
})
export type SettingsChange = Static<typeof SettingsChange>

/** The account that a merchant brings along. */
export const OwnGatewayChange = Type.Object({
  gateway: Type.Unsafe<string>(Type.Enum(WITH_ACCOUNTS.map(({ name }) => name))),
  credentials: Credentials,
  tokenization_key: TokenizationKey,
})
export type OwnGatewayChange = Static<typeof OwnGatewayChange>

/** How a storefront asks for a card. */
export const CardForm = Shared(
  'CardForm',
  Type.Object({
    gateway: GatewayName,
    tokenization_key: Nullable(
      Type.String({
        description:
          "Not null: show the gateway's own card fields with this public key, and send only the token that they return, as `card.payment_token`.",
      }),
    ),
    script: Type.Unsafe<CardScript | null>({
      ...Nullable(
        Type.Object({
          driver: Type.String({ examples: ['collect'] }),
          url: Type.String(),
          key: Type.String({ description: 'The public key of the account.' }),
        }),
      ),
      description:
        "The script with the gateway's own card fields. `driver` names how to work with it. Null: the storefront asks for the card in its own fields.",
    }),
  }),
)
export type CardForm = Static<typeof CardForm>

/** A store's account at a gateway, as a row. */
export const AccountRow = Type.Object({
  gateway: GatewayName,
  in_use: Type.Boolean(),
  credentials: Type.Unsafe<Buffer | null>({}),
  hint: Nullable(Type.String()),
  tokenization_key: Nullable(Type.String()),
  updated_at: Timestamp,
})
export type AccountRow = Static<typeof AccountRow>

export const PROBLEMS = [
  'missing_here',
  'missing_there',
  'amount_differs',
  'outcome_unknown',
] as const

/** A difference between the gateway's record of a day and ours. */
export const Discrepancy = Shared(
  'PaymentDiscrepancy',
  Type.Object({
    id: Id,
    day: Type.String({ format: 'date' }),
    gateway: GatewayName,
    problem: Type.Enum([...PROBLEMS], {
      description:
        '`missing_here`: the gateway has a payment that we do not have. `missing_there`: we have a payment that the gateway does not have. `amount_differs`: both have it, with different amounts. `outcome_unknown`: the gateway has given no answer about it for hours.',
    }),
    ref: Type.String({
      description: 'The id of the attempt, which is our reference at the gateway.',
    }),
    txn_id: Nullable(Type.String()),
    order_id: Nullable(Id),
    our_cents: Nullable(Cents),
    gateway_cents: Nullable(Cents),
    created_at: Timestamp,
    seen_at: Timestamp,
    resolved_at: Nullable(Timestamp),
  }),
)
export type Discrepancy = Static<typeof Discrepancy>

export interface NewDiscrepancy {
  problem: (typeof PROBLEMS)[number]
  ref: string
  txn_id: string | null
  order_id: string | null
  our_cents: number | null
  gateway_cents: number | null
}
