import { type Static, Type } from 'typebox'
import { Cents, Currency, Id, Nullable, Pattern, Shared, Timestamp } from '../../kernel/schema.ts'
import { HOUR_MS } from '../../kernel/time.ts'

export const GATEWAYS = ['simulated', 'nmi'] as const
export const GatewayName = Type.Enum([...GATEWAYS])
export type GatewayName = Static<typeof GatewayName>

/** The facts of a card that may be stored and shown. */
export const CardFacts = Type.Object({
  brand: Type.String({ examples: ['visa'] }),
  last4: Type.String(),
  exp_month: Type.Integer(),
  exp_year: Type.Integer(),
})
export type CardFacts = Static<typeof CardFacts>

/**
 * The outcome of a request to a gateway. `approved` and `declined`: the gateway's own decision.
 * `error`: no money moved, and the card is not at fault. `unknown`: the gateway may or may not have
 * carried it out, and only a lookup can tell.
 */
export const OUTCOMES = ['approved', 'declined', 'error', 'unknown'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Why a gateway refused a request. Shoppers see only the first six. */
export const REASONS = [
  'card_declined',
  'insufficient_funds',
  'card_not_supported',
  'expired_card',
  'incorrect_cvv',
  'processing_error',
  'stop_all_recurring',
  'stop_recurring',
  'card_update_available',
  'retry_in_days',
  'already_settled',
  'not_settled',
  'amount_exceeded',
  'invalid_state',
  'duplicate',
  // Our own reason, of no gateway: it approved a subscription's payment and did not store the card.
  'card_not_stored',
] as const
export type Reason = (typeof REASONS)[number]

/** Whether the same card may be tried again: later (soft), or never (hard). */
export type RetryClass = 'soft' | 'hard'

/** What the card network said of a charge, in its own codes, if the gateway passes them on. */
export interface NetworkCodes {
  /** The issuer's reply, such as `51`. */
  network_code: string | null
  /** The network's advice about another attempt, such as Mastercard's `03`. */
  advice_code: string | null
}

/** A code of a network: shorter than any part of a card number that must not be stored. */
export const NETWORK_CODE = /^[0-9A-Za-z]{1,8}$/

export interface GatewayResult extends NetworkCodes {
  outcome: Outcome
  txn_id: string | null
  auth_code: string | null
  avs: string | null
  cvv: string | null
  /** The gateway's own code. */
  code: string | null
  reason: Reason | null
  /** Whether the same request may succeed later. */
  retryable: boolean
  retry_class: RetryClass | null
  /** The issuer reports the card as lost, stolen or misused. The shopper must not see this. */
  fraud_signal: boolean
  /** The token of the stored card, for later charges. */
  vault_id: string | null
  card: CardFacts | null
}

export type LookupState = 'authorized' | 'captured' | 'settled' | 'voided' | 'failed' | 'refunded'

/**
 * A gateway's own record of a transaction. Unless `found` is `yes`, the other members are empty.
 */
export interface Lookup extends NetworkCodes {
  found: 'yes' | 'no' | 'unreachable'
  state: LookupState | null
  amount_cents: number
  captured_cents: number
  refunded_cents: number
  txn_id: string | null
  auth_code: string | null
  avs: string | null
  cvv: string | null
  code: string | null
  card: CardFacts | null
  vault_id: string | null
  refunds: { ref: string | null; amount_cents: number; outcome: 'approved' | 'declined' }[]
  /** The card's holder has disputed the charge. */
  disputed: boolean
}

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
          "NMI's public key for Collect.js: with it, storefronts show the gateway's own card fields. Not a secret.",
      }),
    ),
    updated_at: Nullable(Timestamp),
  }),
)
export type PaymentSettings = Static<typeof PaymentSettings>

/** What a provider said of a credential. */
export type CredentialCheck = 'valid' | 'refused' | 'unreachable'

const Credentials = Type.Object({
  security_key: Pattern('^[\\x21-\\x7e]+$', 'must be visible ASCII characters without spaces', {
    minLength: 8,
    maxLength: 200,
    description: "NMI's `security_key`. Stored encrypted and never shown again.",
  }),
})

const TokenizationKey = Type.Optional(
  Nullable(
    Pattern('^[A-Za-z0-9_-]+$', 'must be letters, digits, dashes and underscores', {
      minLength: 8,
      maxLength: 100,
      description:
        "The public key of the store's own account at NMI, for Collect.js. Left out, it stays as it is; null removes it.",
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
  gateway: Type.Enum(['nmi']),
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

/** A call to a gateway without a usable answer, or with an answer that an operator must act on. */
export interface FailedCall {
  gateway: GatewayName
  tenant: string
  call: string
  /** One word: `http_502`, `ECONNREFUSED`, `TimeoutError`, `unreadable`, `code_410`. */
  why: string
}
