import type { Gateway, TransactionAmount } from './adapters/gateway.ts'
import { resultOf, unknownResult } from './adapters/results.ts'
import type { GatewayResult, Lookup, Outcome, Reason } from './adapters/schema.ts'
import type { Attempt } from './schema.ts'

/** Whether the request never reached the gateway. It is then no refusal, and may be sent again. */
export const wasNotSent = ({ outcome, code, retryable }: GatewayResult): boolean =>
  outcome === 'error' && code === null && retryable

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
  if (reversed.outcome !== 'approved') return unknownResult()
  const code = gateway.codes.insufficient_funds
  return resultOf('insufficient_funds', { txn_id, card, code })
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
