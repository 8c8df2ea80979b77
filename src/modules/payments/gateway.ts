import type { Card } from './card.ts'
import { meaningOf } from './response-codes.ts'
import type { Attempt, GatewayName, GatewayResult, Lookup, Outcome, Reason } from './schema.ts'

/** The source of a charge: a card, a token that the gateway gave the shopper's browser, or a stored card. */
export type Source =
  | { card: Card }
  | { payment_token: string }
  | {
      vault_id: string
      /**
       * The first transaction, made by the shopper. With it the merchant charges without the
       * shopper.
       */
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
  /** The id of our attempt. A gateway that gets it twice charges once. */
  ref: string
  amount_cents: number
  currency: string
  source: Source
  order_id: string
  order_number?: string | number | null
  email?: string | null
  ip?: string | null
  ship_to?: ShipTo | null
  /** Whether the gateway stores the card for later charges. */
  vault?: boolean
}

/** A card that a shopper gives for later charges. */
export interface CardCheck {
  ref: string
  source: Exclude<Source, { vault_id: string }>
  currency: string
  email?: string | null
  ip?: string | null
  /** The address that the issuer checks. */
  ship_to?: ShipTo | null
}

/** An amount of an earlier transaction that is captured or refunded. */
export interface TransactionAmount {
  ref: string
  txn_id: string
  amount_cents: number
  currency: string
}

/** One charge or refund in the gateway's record of a day. */
export interface DayRecord {
  ref: string
  txn_id: string
  kind: 'charge' | 'refund'
  /** Approved and not voided: money has moved, or is authorised. */
  is_active: boolean
  amount_cents: number
  created_at: string
}

/** The target of a lookup: our reference, or the gateway's transaction id. */
export type LookupTarget = { ref: string } | { txn_id: string }

/**
 * A payment gateway. Every call resolves within its deadline, and none rejects: a call without a usable answer is
 * `unknown` (a lookup: `unreachable`), and only a lookup can find out how it ended. A gateway never repeats a call
 * itself. Only a fenced gateway rejects, and then it has sent nothing.
 */
export interface Gateway {
  readonly name: GatewayName
  authorize(charge: Charge): Promise<GatewayResult>
  /** Captures all or part of an authorisation, once. */
  capture(amount: TransactionAmount): Promise<GatewayResult>
  /** Authorises and captures in one call. */
  sale(charge: Charge): Promise<GatewayResult>
  /**
   * Voids an authorisation, or a capture that has not settled; a settled one is `already_settled`.
   */
  void(transaction: { txn_id: string }): Promise<GatewayResult>
  refund(amount: TransactionAmount): Promise<GatewayResult>
  lookup(target: LookupTarget): Promise<Lookup>
  /**
   * Verifies a card with an authorisation of nothing, and stores it for later charges of the merchant: in one call,
   * since a token can be used once.
   */
  verify(request: CardCheck): Promise<GatewayResult>
  /** Deletes a stored card. One that the gateway does not have is deleted already. */
  vaultDelete(request: { vault_id: string }): Promise<GatewayResult>
  /** Stores a card without charging it. */
  vaultAdd(request: { ref: string; source: Source }): Promise<GatewayResult>
  /** Charges a stored card without the shopper. */
  vaultCharge(
    charge: Omit<Charge, 'source' | 'vault'> & {
      vault_id: string
      initial_txn_id?: string | null
    },
  ): Promise<GatewayResult>
  /** Lists all records of the store between two times. Returns null if the gateway gives no answer. */
  listRecords(from: Date, to: Date): Promise<DayRecord[] | null>
}

const EMPTY_RESULT: GatewayResult = {
  outcome: 'unknown',
  txn_id: null,
  auth_code: null,
  avs: null,
  cvv: null,
  code: null,
  network_code: null,
  advice_code: null,
  reason: null,
  retryable: false,
  retry_class: null,
  fraud_signal: false,
  vault_id: null,
  card: null,
}

/** Returns the result of a response code, with the other facts of the response. */
export const resultOfCode = (code: string, facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY_RESULT,
  ...meaningOf(code),
  code,
  ...facts,
})

/** The result of a request without a usable answer: the gateway may or may not have carried it out. */
export const unknownResult = (facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY_RESULT,
  reason: 'processing_error',
  ...facts,
})

/** The result of a request that was never sent: there was no connection to the gateway. */
export const notSent = (): GatewayResult => ({
  ...EMPTY_RESULT,
  outcome: 'error',
  reason: 'processing_error',
  retryable: true,
  retry_class: 'soft',
})

/** Whether the request never reached the gateway. It is then no refusal, and may be sent again. */
export const wasNotSent = ({ outcome, code, retryable }: GatewayResult): boolean =>
  outcome === 'error' && code === null && retryable

/** A request that the gateway understood and refuses, because of the request itself. */
export const refused = (reason: Reason, facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY_RESULT,
  outcome: 'error',
  code: '300',
  reason,
  ...facts,
})

const EMPTY_LOOKUP: Lookup = {
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
  network_code: null,
  advice_code: null,
  card: null,
  vault_id: null,
  refunds: [],
  disputed: false,
}

/** The lookup of a transaction of which the gateway has no record. */
export const noRecord = (): Lookup => ({ ...EMPTY_LOOKUP })

/** The lookup if the gateway gives no usable answer, which proves nothing. */
export const unreachable = (): Lookup => ({ ...EMPTY_LOOKUP, found: 'unreachable' })

/** The result of a charge, as a lookup shows it. */
export function resultOfLookup(lookup: Lookup): GatewayResult {
  const { txn_id, auth_code, avs, cvv, card, vault_id, network_code, advice_code } = lookup
  // The issuer's warning about the card holds, however the charge ended.
  const { fraud_signal } = meaningOf(lookup.code ?? '100')
  const codes = { network_code, advice_code }
  const facts = { txn_id, auth_code, avs, cvv, card, vault_id, fraud_signal, ...codes }
  if (lookup.found !== 'yes') return unknownResult()
  // The charge was approved and then voided: the gateway holds no money, and no bank declined.
  if (lookup.state === 'voided') return refused('invalid_state', facts)
  if (lookup.state === 'failed') return failedResult(lookup.code, facts)
  return resultOfCode('100', { ...facts, code: lookup.code ?? '100' })
}

/** Returns how an attempt ended, by its own row; null while it is open, or if it was not found. */
export function closedResult(attempt: Attempt): GatewayResult | null {
  const { state, txn_id, auth_code, avs, cvv, code, vault_id, card, fraud_signal } = attempt
  if (state === 'begun' || state === 'unknown' || state === 'not_found') return null
  const outcome: Outcome = state === 'approved' ? 'approved' : 'error'
  return {
    outcome,
    txn_id,
    auth_code,
    avs,
    cvv,
    code,
    network_code: attempt.network_code,
    advice_code: attempt.advice_code,
    vault_id,
    card,
    fraud_signal,
    reason: attempt.reason as Reason | null,
    retryable: false,
    retry_class: null,
  }
}

const ACTIVE: readonly Lookup['state'][] = ['authorized', 'captured', 'settled']

/** Whether a charge is authorised or captured, and neither voided nor refunded. */
export const isActive = ({ state }: Lookup): boolean => ACTIVE.includes(state)

/** How much an active charge has authorised or captured. */
const activeCents = ({ state, amount_cents, captured_cents }: Lookup): number => {
  if (state === 'authorized') return amount_cents
  return state === 'captured' || state === 'settled' ? captured_cents : 0
}

/**
 * Whether a charge has authorised or captured only a part of the amount, which pays for no order.
 */
export function isPartialPayment(lookup: Lookup, amount_cents: number): boolean {
  const cents = activeCents(lookup)
  return cents > 0 && cents < amount_cents
}

/** Reverses a partial payment. Once reversed, it counts as declined for insufficient funds; otherwise it is unknown. */
export async function reversePartialPayment(
  gateway: Gateway,
  lookup: Lookup,
  { ref, currency }: { ref: string; currency: string },
): Promise<GatewayResult> {
  const { txn_id, card } = lookup
  const reversed = await reversePayment(gateway, {
    ref,
    txn_id: txn_id ?? '',
    amount_cents: activeCents(lookup),
    currency,
  })
  return reversed.outcome === 'approved' ? resultOfCode('202', { txn_id, card }) : unknownResult()
}

/**
 * Returns the result of a charge that has failed by the gateway's record. With the code of an approval it counts as
 * a plain decline. With a code of an uncertain outcome it is certain now: otherwise it would be looked up for ever.
 */
function failedResult(code: string | null, facts: Partial<GatewayResult>): GatewayResult {
  const { outcome } = meaningOf(code ?? '100')
  if (code === null || outcome === 'approved') return resultOfCode('200', facts)
  return outcome === 'unknown' ? resultOfCode('400', { ...facts, code }) : resultOfCode(code, facts)
}

/**
 * Wraps a gateway so that it calls `assertHeld` before every request that moves money. `assertHeld` throws if
 * another process has taken over the operation; then nothing is sent. Lookups need no check.
 */
export function fencedGateway(gateway: Gateway, assertHeld: () => Promise<void>): Gateway {
  const fenced =
    <Request>(send: (request: Request) => Promise<GatewayResult>) =>
    async (request: Request): Promise<GatewayResult> => {
      await assertHeld()
      return send(request)
    }
  return {
    ...gateway,
    authorize: fenced(gateway.authorize),
    capture: fenced(gateway.capture),
    sale: fenced(gateway.sale),
    void: fenced(gateway.void),
    refund: fenced(gateway.refund),
    vaultCharge: fenced(gateway.vaultCharge),
  }
}

/** Reverses a whole payment: voids it, or refunds it where it is settled already. */
export async function reversePayment(
  gateway: Gateway,
  amount: TransactionAmount,
): Promise<GatewayResult> {
  const voided = await gateway.void(amount)
  return voided.reason === 'already_settled' ? gateway.refund(amount) : voided
}
