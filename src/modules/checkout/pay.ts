import * as fraud from '../fraud/service.ts'
import type { Attempt, GatewayResult, Lookup, Reason } from '../payments/schema.ts'
import {
  closedResult,
  type Gateway,
  giveBack,
  guarded,
  isPart,
  resultOfLookup,
  returnPart,
  type Source,
  stands,
  wasNotSent,
} from '../payments/service.ts'
import type { Begun } from './begun.ts'
import type { Risk } from './schema.ts'
import type { CheckoutDeps } from './service.ts'

/** How paying for an order ended. */
export type Outcome =
  | { kind: 'captured'; attempt_id: string; result: GatewayResult; verdict: fraud.Score }
  /** Nothing was to be charged. */
  | { kind: 'covered'; verdict: fraud.Score }
  /** Authorised, and held for a person to look at. */
  | {
      kind: 'review'
      attempt_id: string | null
      result: GatewayResult | null
      verdict: fraud.Score
    }
  | { kind: 'rejected'; attempt_id: string; result: GatewayResult; verdict: fraud.Score }
  | { kind: 'declined'; attempt_id: string; result: GatewayResult }
  /** The gateway has never heard of it. */
  | { kind: 'lost'; attempt_id: string }
  | { kind: 'unknown'; attempt_id: string }

/** Writes down why an attempt is about to be voided: once that may be on its way, nobody captures. */
export type MarkUndone = (attempt_id: string, reason: Reason) => Promise<unknown>

/**
 * Asks the gateway for the money. Nothing of ours changes here but by `markUndone`; and nothing is
 * sent, neither to take nor to void it, once `still` throws because somebody else has taken it up.
 */
export async function pay(
  deps: CheckoutDeps,
  begun: Begun,
  source: Source | null,
  { still, markUndone }: { still: () => Promise<void>; markUndone: MarkUndone },
): Promise<Outcome> {
  const { waiting, charge, request, risk } = begun
  if (charge === null || source === null) return payByTenders(risk)
  const { attempt_id, amount_cents, currency } = charge
  const gateway = guarded(charge.gateway, still)
  await deps.at?.('authorize-sent')
  const result = await gateway.authorize({
    ref: attempt_id,
    amount_cents,
    currency,
    source,
    order_id: waiting.order.id,
    order_number: waiting.order.order_number,
    email: request.email ?? null,
    ip: request.ip ?? null,
    ship_to: request.shipping_address ?? null,
    // A card is kept for what is charged again, and the issuer is told so.
    vault: waiting.items.some(({ is_subscription }) => is_subscription),
  })
  await deps.at?.('authorized')
  if (result.outcome === 'unknown') return { kind: 'unknown', attempt_id }
  if (result.outcome !== 'approved') return { kind: 'declined', attempt_id, result }
  return capture(deps, gateway, { attempt_id, amount_cents, currency, risk, result, markUndone })
}

/** Goods that store credit and gift cards pay for are looked at like any others. */
export function payByTenders(risk: Risk): Outcome {
  const verdict = fraud.score(risk)
  if (verdict.decision === 'accepted') return { kind: 'covered', verdict }
  return { kind: 'review', attempt_id: null, result: null, verdict }
}

interface Authorized {
  attempt_id: string
  amount_cents: number
  currency: string
  risk: Risk
  result: GatewayResult
  markUndone: MarkUndone
}

/** Takes what was authorised, unless too much speaks against it. */
async function capture(
  deps: CheckoutDeps,
  gateway: Gateway,
  { attempt_id, amount_cents, currency, risk, result, markUndone }: Authorized,
): Promise<Outcome> {
  const { avs, cvv, fraud_signal, txn_id } = result
  const verdict = fraud.score({ ...risk, avs, cvv, fraud_signal })
  if (txn_id === null) return { kind: 'unknown', attempt_id }
  if (verdict.decision === 'review') return { kind: 'review', attempt_id, result, verdict }
  const isVoided = async (reason: Reason): Promise<boolean> => {
    await markUndone(attempt_id, reason)
    const { outcome } = await gateway.void({ txn_id })
    await deps.at?.('voided')
    return outcome === 'approved'
  }
  if (verdict.decision === 'rejected') {
    // Nothing is given up as failed while the gateway may still hold the shopper's money.
    if (!(await isVoided('invalid_state'))) return { kind: 'unknown', attempt_id }
    return { kind: 'rejected', attempt_id, result, verdict }
  }
  const captured = await gateway.capture({ ref: attempt_id, txn_id, amount_cents, currency })
  await deps.at?.('captured')
  if (captured.outcome === 'unknown') return { kind: 'unknown', attempt_id }
  if (captured.outcome === 'approved') return { kind: 'captured', attempt_id, result, verdict }
  // Somebody may have taken this up while we were slow, and captured it: then it must not be voided.
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'unreachable') return { kind: 'unknown', attempt_id }
  if (isCaptured(lookup) && !isPart(lookup, amount_cents))
    return { kind: 'captured', attempt_id, result, verdict }
  if (!(await isVoided(captured.reason ?? 'processing_error')))
    return { kind: 'unknown', attempt_id }
  return { kind: 'declined', attempt_id, result: captured }
}

/** How long a gateway may be silent about what it was asked before that means that it never was. */
const NEVER_AFTER_MS = 10_000

/** What became of an attempt, by the gateway's own record: for whoever takes the work up later. */
export async function recall(
  deps: CheckoutDeps,
  gateway: Gateway,
  attempt: Attempt,
  { risk, markUndone }: Pick<Authorized, 'risk' | 'markUndone'>,
): Promise<Outcome> {
  const attempt_id = attempt.id
  const decided = decidedBy(attempt, risk)
  if (decided !== null) return decided
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'unreachable') return { kind: 'unknown', attempt_id }
  if (lookup.found === 'no') {
    const age = deps.clock.now() - Date.parse(attempt.created_at)
    return { kind: age < NEVER_AFTER_MS ? 'unknown' : 'lost', attempt_id }
  }
  const { amount_cents, currency } = attempt
  if (isPart(lookup, amount_cents)) {
    const returned = await returnPart(gateway, lookup, { ref: attempt_id, currency })
    if (returned.outcome === 'unknown') return { kind: 'unknown', attempt_id }
    return { kind: 'declined', attempt_id, result: returned }
  }
  const result = resultOfLookup(lookup)
  const { avs, cvv, fraud_signal } = result
  const verdict = fraud.score({ ...risk, avs, cvv, fraud_signal })
  if (attempt.reason !== null && stands(lookup))
    return undo(deps, gateway, attempt, { lookup, verdict })
  if (lookup.state === 'authorized')
    return capture(deps, gateway, { attempt_id, amount_cents, currency, risk, result, markUndone })
  if (isCaptured(lookup)) return { kind: 'captured', attempt_id, result, verdict }
  // Voided by whoever came to that verdict, and did not live to say so.
  if (lookup.state === 'voided' && verdict.decision === 'rejected')
    return { kind: 'rejected', attempt_id, result, verdict }
  return { kind: 'declined', attempt_id, result }
}

/** What somebody has said by hand, where the gateway never did: an approval means that it was captured. */
function decidedBy(attempt: Attempt, risk: Risk): Outcome | null {
  const { id: attempt_id, state } = attempt
  if (state === 'not_found') return { kind: 'lost', attempt_id }
  const result = closedResult(attempt)
  if (result === null) return null
  const verdict = fraud.score(risk)
  if (result.outcome === 'approved') return { kind: 'captured', attempt_id, result, verdict }
  return { kind: 'declined', attempt_id, result }
}

const isCaptured = ({ state }: Lookup): boolean => state === 'captured' || state === 'settled'

/** So long a bank vouches for what it has authorised. Then nothing is held any more. */
const LAPSES_MS = 7 * 86_400_000

/**
 * Goes on with taking back what somebody began to. Their void may be on its way still, and would undo
 * what was captured now: the order would be placed, and nobody have paid for it. An authorisation that
 * the gateway will not void ends by itself.
 */
async function undo(
  { clock }: CheckoutDeps,
  gateway: Gateway,
  { id: attempt_id, amount_cents, currency, reason, created_at }: Attempt,
  { lookup, verdict }: { lookup: Lookup; verdict: fraud.Score },
): Promise<Outcome> {
  const what = { ref: attempt_id, txn_id: lookup.txn_id ?? '', amount_cents, currency }
  const back = await giveBack(gateway, what)
  const isRefused = back.outcome !== 'unknown' && !wasNotSent(back)
  const isOld = clock.now() - Date.parse(created_at) >= LAPSES_MS
  const isLapsed = lookup.state === 'authorized' && isRefused && isOld
  if (back.outcome !== 'approved' && !isLapsed) return { kind: 'unknown', attempt_id }
  const result = resultOfLookup({ ...lookup, state: 'voided' })
  if (verdict.decision === 'rejected') return { kind: 'rejected', attempt_id, result, verdict }
  return { kind: 'declined', attempt_id, result: { ...result, reason: reason as Reason } }
}
