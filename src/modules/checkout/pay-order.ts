import type { TenantDb } from '../../db/database.ts'
import { DAY_MS } from '../../kernel/time.ts'
import { type FraudScore, scoreRisk } from '../fraud/score.ts'
import { isOutOfTransit } from '../operations/replies.ts'
import type { Fenced } from '../operations/service.ts'
import type { OrderRow, WaitingOrder } from '../orders/schema.ts'
import type { Risk } from '../orders/terms-schema.ts'
import type { Gateway, Source } from '../payments/adapters/gateway.ts'
import { resultOfLookup } from '../payments/adapters/results.ts'
import type { GatewayResult, Lookup, Reason } from '../payments/adapters/schema.ts'
import * as attempts from '../payments/attempts.ts'
import {
  closedResult,
  fencedGateway,
  isActive,
  isPartialPayment,
  reversePartialPayment,
  reversePayment,
  wasNotSent,
} from '../payments/gateway.ts'
import type { Attempt } from '../payments/schema.ts'
import type { CheckoutDeps } from './service.ts'

/** How the payment of an order ended. */
export type Outcome =
  | { kind: 'captured'; attempt_id: string; result: GatewayResult; verdict: FraudScore }
  /** Store credit and a gift card cover the total: nothing was charged. */
  | { kind: 'covered'; verdict: FraudScore }
  /** Authorised, and held for review. */
  | {
      kind: 'review'
      attempt_id: string | null
      result: GatewayResult | null
      verdict: FraudScore
    }
  | { kind: 'rejected'; attempt_id: string; result: GatewayResult; verdict: FraudScore }
  | { kind: 'declined'; attempt_id: string; result: GatewayResult }
  /** The gateway has no record of the attempt. */
  | { kind: 'not_found'; attempt_id: string }
  | { kind: 'unknown'; attempt_id: string }

/** The amount that is charged to the card of an order. */
export interface CardCharge {
  attempt_id: string
  amount_cents: number
  currency: string
  gateway: Gateway
}

type Deps = Fenced<CheckoutDeps>

/** Authorises and captures a charge. Of our own rows only the reason of a void changes here. */
export async function payByCard(
  deps: Deps,
  db: TenantDb,
  { order }: WaitingOrder,
  { charge, risk, source }: { charge: CardCharge; risk: Risk; source: Source },
): Promise<Outcome> {
  const { attempt_id, amount_cents, currency } = charge
  const { id: order_id, order_number, email, ip, ship_to } = order
  const gateway = fencedGateway(charge.gateway, deps.assertClaimHeld)
  const needsStoredCard = startsSubscription(order)
  await deps.at?.('authorize-sent')
  const result = await gateway.authorize({
    ref: attempt_id,
    amount_cents,
    currency,
    source,
    order_id,
    order_number,
    email,
    ip,
    ship_to,
    // A subscription stores the card, and the issuer must be told so at the first charge.
    vault: needsStoredCard,
  })
  await deps.at?.('authorized')
  if (result.outcome === 'unknown') return { kind: 'unknown', attempt_id }
  if (result.outcome !== 'approved') return { kind: 'declined', attempt_id, result }
  const authorized = { attempt_id, amount_cents, currency, risk, result, needsStoredCard }
  return capture(deps, db, gateway, authorized)
}

/** A subscription is charged again later, so that its order needs a card that the gateway stores. */
export const startsSubscription = ({ pricing }: OrderRow): boolean =>
  (pricing.subscriptions ?? []).length > 0

/** Runs the fraud check of an order that store credit and gift cards pay for, as for any other order. */
export function payByTenders(risk: Risk): Outcome {
  const verdict = scoreRisk(risk)
  if (verdict.decision === 'accepted') return { kind: 'covered', verdict }
  return { kind: 'review', attempt_id: null, result: null, verdict }
}

interface Authorized {
  attempt_id: string
  amount_cents: number
  currency: string
  risk: Risk
  result: GatewayResult
  needsStoredCard: boolean
}

/**
 * Captures an authorisation, unless the fraud check holds or rejects the order, or the gateway has
 * not stored the card of a subscription.
 */
async function capture(
  deps: Deps,
  db: TenantDb,
  gateway: Gateway,
  { attempt_id, amount_cents, currency, risk, result, needsStoredCard }: Authorized,
): Promise<Outcome> {
  const { avs, cvv, fraud_signal, txn_id } = result
  const verdict = scoreRisk({ ...risk, avs, cvv, fraud_signal })
  if (txn_id === null) return { kind: 'unknown', attempt_id }
  const isVoided = async (reason: Reason): Promise<boolean> => {
    // Checked first: the reason written by an overtaken process would reverse a capture of another process.
    await deps.assertClaimHeld()
    await attempts.markReversing(db, attempt_id, reason)
    const { outcome } = await gateway.void({ txn_id })
    await deps.at?.('voided')
    return outcome === 'approved'
  }
  if (verdict.decision === 'rejected') {
    // The order does not fail while the gateway may still hold the shopper's money.
    if (!(await isVoided('invalid_state'))) return { kind: 'unknown', attempt_id }
    return { kind: 'rejected', attempt_id, result, verdict }
  }
  if (needsStoredCard && result.vault_id === null) {
    if (!(await isVoided('card_not_stored'))) return { kind: 'unknown', attempt_id }
    return { kind: 'declined', attempt_id, result: { ...result, reason: 'card_not_stored' } }
  }
  if (verdict.decision === 'review') return { kind: 'review', attempt_id, result, verdict }
  const captured = await gateway.capture({ ref: attempt_id, txn_id, amount_cents, currency })
  await deps.at?.('captured')
  if (captured.outcome === 'unknown') return { kind: 'unknown', attempt_id }
  if (captured.outcome === 'approved') return { kind: 'captured', attempt_id, result, verdict }
  // Another process may have resumed the checkout and captured: that must not be voided.
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'unreachable') return { kind: 'unknown', attempt_id }
  if (isCaptured(lookup) && !isPartialPayment(lookup, amount_cents))
    return { kind: 'captured', attempt_id, result, verdict }
  if (!(await isVoided(captured.reason ?? 'processing_error')))
    return { kind: 'unknown', attempt_id }
  return { kind: 'declined', attempt_id, result: captured }
}

/**
 * Finds out how an attempt ended, by our own row or by the gateway's record, and continues from
 * there.
 */
export async function recallPayment(
  deps: Deps,
  db: TenantDb,
  attempt: Attempt,
  { order, risk }: { order: OrderRow; risk: Risk },
): Promise<Outcome> {
  const { id: attempt_id, amount_cents, currency } = attempt
  const decided = decidedByOperator(attempt, risk)
  if (decided !== null) return decided
  const gateway = await deps.payments.forStore(db, attempt.gateway)
  const lookup = await gateway.lookup({ ref: attempt_id })
  if (lookup.found === 'unreachable') return { kind: 'unknown', attempt_id }
  if (lookup.found === 'no') {
    return { kind: isOutOfTransit(db, attempt) ? 'not_found' : 'unknown', attempt_id }
  }
  if (isPartialPayment(lookup, amount_cents)) {
    const reversed = await reversePartialPayment(gateway, lookup, { ref: attempt_id, currency })
    if (reversed.outcome === 'unknown') return { kind: 'unknown', attempt_id }
    return { kind: 'declined', attempt_id, result: reversed }
  }
  const result = resultOfLookup(gateway, lookup)
  const { avs, cvv, fraud_signal } = result
  const verdict = scoreRisk({ ...risk, avs, cvv, fraud_signal })
  if (attempt.reason !== null && isActive(lookup))
    return continueVoid(db, gateway, attempt, { lookup, verdict })
  if (lookup.state === 'authorized') {
    const needsStoredCard = startsSubscription(order)
    const authorized = { attempt_id, amount_cents, currency, risk, result, needsStoredCard }
    return capture(deps, db, gateway, authorized)
  }
  if (isCaptured(lookup)) return { kind: 'captured', attempt_id, result, verdict }
  // Voided by a process that came to this decision and stopped before it could write it down.
  if (lookup.state === 'voided' && verdict.decision === 'rejected')
    return { kind: 'rejected', attempt_id, result, verdict }
  const reason = attempt.reason === 'card_not_stored' ? attempt.reason : result.reason
  return { kind: 'declined', attempt_id, result: { ...result, reason } }
}

/** Returns the outcome that an operator decided, if the gateway never replied. Approved means captured. */
function decidedByOperator(attempt: Attempt, risk: Risk): Outcome | null {
  const { id: attempt_id, state } = attempt
  if (state === 'not_found') return { kind: 'not_found', attempt_id }
  const result = closedResult(attempt)
  if (result === null) return null
  const verdict = scoreRisk(risk)
  if (result.outcome === 'approved') return { kind: 'captured', attempt_id, result, verdict }
  return { kind: 'declined', attempt_id, result }
}

const isCaptured = ({ state }: Lookup): boolean => state === 'captured' || state === 'settled'

/** How long a bank honours an authorisation. After that it has lapsed, and holds nothing. */
const LAPSES_MS = 7 * DAY_MS

/**
 * Continues a void that an earlier process began. That void may still be on its way, and would undo a capture: the
 * order would be placed and unpaid. An authorisation that the gateway refuses to void lapses by itself.
 */
async function continueVoid(
  { clock }: TenantDb,
  gateway: Gateway,
  { id: attempt_id, amount_cents, currency, reason, created_at }: Attempt,
  { lookup, verdict }: { lookup: Lookup; verdict: FraudScore },
): Promise<Outcome> {
  const what = { ref: attempt_id, txn_id: lookup.txn_id ?? '', amount_cents, currency }
  const reversed = await reversePayment(gateway, what)
  const isRefused = reversed.outcome !== 'unknown' && !wasNotSent(reversed)
  const isOld = clock.now() - Date.parse(created_at) >= LAPSES_MS
  const isLapsed = lookup.state === 'authorized' && isRefused && isOld
  if (reversed.outcome !== 'approved' && !isLapsed) return { kind: 'unknown', attempt_id }
  const result = resultOfLookup(gateway, { ...lookup, state: 'voided' })
  if (verdict.decision === 'rejected') return { kind: 'rejected', attempt_id, result, verdict }
  return { kind: 'declined', attempt_id, result: { ...result, reason: reason as Reason } }
}
