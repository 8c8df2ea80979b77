import { type Static, Type } from 'typebox'

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

/** What a provider said of a credential. */
export type CredentialCheck = 'valid' | 'refused' | 'unreachable'

/** A call to a gateway without a usable answer, or with an answer that an operator must act on. */
export interface FailedCall {
  gateway: string
  tenant: string
  call: string
  /** One word: `http_502`, `ECONNREFUSED`, `TimeoutError`, `unreadable`, `code_410`. */
  why: string
}
