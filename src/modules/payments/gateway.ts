import type { Card } from './card.ts'
import { meaningOf } from './codes.ts'
import type { Attempt, GatewayName, GatewayResult, Lookup, Outcome, Reason } from './schema.ts'

/** What is charged: a card, a token the shopper's browser got from the gateway, or a kept card. */
export type Source =
  | { card: Card }
  | { payment_token: string }
  | {
      vault_id: string
      /** The transaction the shopper was present at. With it the merchant charges on its own. */
      initial_txn_id?: string | null
    }

/** The contract's ship-to address. */
export interface ShipTo {
  label?: string | null
  line1?: string | null
  line2?: string | null
  city?: string | null
  state?: string | null
  postal_code?: string | null
  country?: string | null
}

export interface Charge {
  /** Our attempt's id. Sent twice, it charges once. */
  ref: string
  amount_cents: number
  currency: string
  source: Source
  order_id: string
  order_number?: string | number | null
  email?: string | null
  ip?: string | null
  ship_to?: ShipTo | null
  /** Keep the card for later charges. */
  vault?: boolean
}

/** All or part of what a transaction is about. */
export interface Part {
  ref: string
  txn_id: string
  amount_cents: number
  currency: string
}

/** What a gateway did on one day, as it remembers it. */
export interface DayRecord {
  ref: string
  txn_id: string
  kind: 'charge' | 'refund'
  /** Whether money moved, or is held. */
  stands: boolean
  amount_cents: number
  created_at: string
}

/**
 * A payment gateway. Every call resolves within its deadline and none rejects: what cannot be known
 * is `unknown` (or `unreachable`), and then only a lookup may tell. No call is repeated by itself.
 * Only a fenced one rejects, and then nothing was sent.
 */
export interface Gateway {
  readonly name: GatewayName
  authorize(charge: Charge): Promise<GatewayResult>
  /** Takes all or part of what was authorised, once. */
  capture(what: Part): Promise<GatewayResult>
  /** Authorises and captures in one. */
  sale(charge: Charge): Promise<GatewayResult>
  /** Gives up an authorisation, or a capture that is not settled yet: else `already_settled`. */
  void(what: { txn_id: string }): Promise<GatewayResult>
  refund(what: Part): Promise<GatewayResult>
  lookup(what: { ref: string } | { txn_id: string }): Promise<Lookup>
  /** Keeps a card without charging it. */
  vaultAdd(what: { ref: string; source: Source }): Promise<GatewayResult>
  /** Charges a kept card on the merchant's initiative. */
  vaultCharge(
    charge: Omit<Charge, 'source' | 'vault'> & {
      vault_id: string
      initial_txn_id?: string | null
    },
  ): Promise<GatewayResult>
  /** Everything of ours between two times, or null when the gateway cannot be asked. */
  listRecords(from: Date, to: Date): Promise<DayRecord[] | null>
}

const EMPTY: GatewayResult = {
  outcome: 'unknown',
  txn_id: null,
  auth_code: null,
  avs: null,
  cvv: null,
  code: null,
  reason: null,
  retryable: false,
  retry_class: null,
  fraud_signal: false,
  vault_id: null,
  card: null,
}

/** What a code of the gateways means, with what else is known. */
export const resultOf = (code: string, facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY,
  ...meaningOf(code),
  code,
  ...facts,
})

/** Nobody can say whether it happened. */
export const unknownResult = (facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY,
  reason: 'processing_error',
  ...facts,
})

/** Nothing was sent, so nothing can have happened. */
export const notSent = (): GatewayResult => ({
  ...EMPTY,
  outcome: 'error',
  reason: 'processing_error',
  retryable: true,
  retry_class: 'soft',
})

/** Whether the gateway was never reached, and so has not said no: it may be asked again. */
export const wasNotSent = ({ outcome, code, retryable }: GatewayResult): boolean =>
  outcome === 'error' && code === null && retryable

/** The gateway understood and will not: the fault is in what was asked. */
export const refused = (reason: Reason, facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY,
  outcome: 'error',
  code: '300',
  reason,
  ...facts,
})

const NOTHING: Lookup = {
  found: 'no',
  state: null,
  amount_cents: 0,
  captured_cents: 0,
  refunded_cents: 0,
  txn_id: null,
  auth_code: null,
  avs: null,
  cvv: null,
  code: null,
  card: null,
  vault_id: null,
  refunds: [],
  disputed: false,
}

export const neverSeen = (): Lookup => ({ ...NOTHING })
export const unreachable = (): Lookup => ({ ...NOTHING, found: 'unreachable' })

/** A lookup's answer as the result of the charge it tells of. */
export function resultOfLookup(lookup: Lookup): GatewayResult {
  const { txn_id, auth_code, avs, cvv, card, vault_id } = lookup
  // Whatever became of the charge, the issuer's warning about its card stands.
  const { fraud_signal } = meaningOf(lookup.code ?? '100')
  const facts = { txn_id, auth_code, avs, cvv, card, vault_id, fraud_signal }
  if (lookup.found !== 'yes') return unknownResult()
  // It stood once and stands no more: nothing is held, and nobody declined.
  if (lookup.state === 'voided') return refused('invalid_state', facts)
  if (lookup.state === 'failed') return resultOf(failureCode(lookup.code), facts)
  return resultOf('100', { ...facts, code: lookup.code ?? '100' })
}

/** How an attempt ended, by its own row; null while nobody knows, and of what was not found. */
export function closedResult(attempt: Attempt): GatewayResult | null {
  const { state, txn_id, auth_code, avs, cvv, code, vault_id, card, fraud_signal } = attempt
  if (state === 'begun' || state === 'unknown' || state === 'not_found') return null
  const outcome: Outcome = state === 'approved' ? 'approved' : 'error'
  return {
    ...{ outcome, txn_id, auth_code, avs, cvv, code, vault_id, card, fraud_signal },
    reason: attempt.reason as Reason | null,
    retryable: false,
    retry_class: null,
  }
}

const STANDS: readonly Lookup['state'][] = ['authorized', 'captured', 'settled']

/** Whether a gateway holds it, or has taken it. */
export const stands = ({ state }: Lookup): boolean => STANDS.includes(state)

/** What a charge holds or has taken, where the record says so. */
const standing = ({ state, amount_cents, captured_cents }: Lookup): number => {
  if (state === 'authorized') return amount_cents
  return state === 'captured' || state === 'settled' ? captured_cents : 0
}

/** Whether a charge holds, or has taken, a part of what was asked for: that is no payment. */
export function isPart(lookup: Lookup, amount_cents: number): boolean {
  const cents = standing(lookup)
  return cents > 0 && cents < amount_cents
}

/** Reverses a partial payment. Reversed, it counts as declined for lack of funds; else it is unknown. */
export async function reversePart(
  gateway: Gateway,
  lookup: Lookup,
  { ref, currency }: { ref: string; currency: string },
): Promise<GatewayResult> {
  const { txn_id, card } = lookup
  const what = { ref, txn_id: txn_id ?? '', amount_cents: standing(lookup), currency }
  const reversed = await reversePayment(gateway, what)
  return reversed.outcome === 'approved' ? resultOf('202', { txn_id, card }) : unknownResult()
}

/** A failed charge is never read as an approval, whatever code the record has. */
const failureCode = (code: string | null): string =>
  code === null || meaningOf(code).outcome === 'approved' ? '200' : code

/**
 * The same gateway, which calls `assertHeld` before every request that moves money. It throws where
 * another process has taken the operation over; then nothing is sent. Lookups need no check.
 */
export function fencedGateway(gateway: Gateway, assertHeld: () => Promise<void>): Gateway {
  const guard =
    <What>(send: (what: What) => Promise<GatewayResult>) =>
    async (what: What): Promise<GatewayResult> => {
      await assertHeld()
      return send(what)
    }
  return {
    ...gateway,
    authorize: guard(gateway.authorize),
    capture: guard(gateway.capture),
    sale: guard(gateway.sale),
    void: guard(gateway.void),
    refund: guard(gateway.refund),
    vaultCharge: guard(gateway.vaultCharge),
  }
}

/** Reverses a whole payment: voids it, or refunds it where it is settled already. */
export async function reversePayment(gateway: Gateway, what: Part): Promise<GatewayResult> {
  const voided = await gateway.void(what)
  return voided.reason === 'already_settled' ? gateway.refund(what) : voided
}
