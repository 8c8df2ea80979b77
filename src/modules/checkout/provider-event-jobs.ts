import type { TenantDb } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import { hasten } from '../../platform/idempotency-due.ts'
import type { EventSubject, PaymentSubject, UpdatedCards } from '../../platform/provider-events.ts'
import { recordDispute } from '../order-changes/dispute-money.ts'
import { listRefunds } from '../orders/service.ts'
import { findAttempt, makeLookupsDue } from '../payments/attempts.ts'
import type { Attempt } from '../payments/schema.ts'
import type { Outcome, WebhookReceived } from '../provider-events/schema.ts'
import * as providerEvents from '../provider-events/service.ts'
import type { CheckoutDeps } from './service.ts'

export type ProviderEventDeps = Pick<CheckoutDeps, 'payments' | 'onAlert'>

/**
 * Acts on a provider's event. An event is only a reason to look the payment up: events come twice,
 * late and in any order, while a lookup is true now. Waiting lookups become due at once; a dispute
 * is recorded once the gateway's own record shows it.
 */
export async function onProviderEvent(
  deps: ProviderEventDeps,
  db: TenantDb,
  event: WebhookReceived,
  subject: Exclude<EventSubject, UpdatedCards>,
): Promise<void> {
  const outcome = await act(deps, db, subject)
  await providerEvents.recordOutcome(db, event, outcome)
  if (outcome.status === 'unhandled') alert(deps, db, event)
}

async function act(
  deps: ProviderEventDeps,
  db: TenantDb,
  subject: Exclude<EventSubject, UpdatedCards>,
): Promise<Outcome> {
  if (subject.topic === 'other') return { status: 'ignored', reason: 'other_type' }
  const attempts = await findAttempts(db, subject.refs)
  if (subject.topic === 'dispute') return checkDisputes(deps, db, attempts, subject)
  if (attempts.length === 0) return { status: 'ignored', reason: 'no_payment_of_ours' }
  let hastened = 0
  for (const { order_id } of attempts) hastened += await lookUpNow(db, order_id)
  if (hastened > 0) return { status: 'applied', reason: 'lookup_hastened' }
  return { status: 'ignored', reason: 'nothing_waiting' }
}

/**
 * Records the disputes of an event. It is unhandled unless every one of them is shown and recorded.
 */
async function checkDisputes(
  deps: ProviderEventDeps,
  db: TenantDb,
  attempts: readonly Attempt[],
  { refs, unnamed }: PaymentSubject,
): Promise<Outcome> {
  let shown = 0
  let recorded = 0
  for (const attempt of attempts) {
    if (!(await isDisputed(deps, db, attempt))) continue
    shown++
    if (await recordDispute(db, attempt)) recorded++
  }
  if (shown === 0 || shown < refs.length || unnamed > 0) {
    return { status: 'unhandled', reason: 'dispute_not_shown' }
  }
  if (recorded < shown) return { status: 'unhandled', reason: 'dispute_not_recorded' }
  return { status: 'applied', reason: 'dispute_recorded' }
}

/** The attempts of our references. A provider may also report payments of others. */
async function findAttempts(db: TenantDb, refs: readonly string[]): Promise<Attempt[]> {
  const attempts: Attempt[] = []
  for (const ref of refs.filter(isUuid)) {
    const attempt = await findAttempt(db, ref)
    if (attempt !== null) attempts.push(attempt)
  }
  return attempts
}

/** Makes all waiting lookups of an order due now. Returns how many. */
async function lookUpNow(db: TenantDb, order_id: string): Promise<number> {
  let hastened = await makeLookupsDue(db, order_id)
  const refunds = await listRefunds(db, order_id)
  const pending = refunds.filter(({ status }) => status === 'pending')
  for (const id of [order_id, ...pending.map(({ refund_id }) => refund_id)]) {
    hastened += await hasten(db, id)
  }
  return hastened
}

async function isDisputed(
  deps: ProviderEventDeps,
  db: TenantDb,
  attempt: Attempt,
): Promise<boolean> {
  const gatewayOfAttempt = await deps.payments.forStore(db, attempt.gateway)
  const lookup = await gatewayOfAttempt.lookup({ ref: attempt.id })
  // Thrown, so that the event is handled again later.
  if (lookup.found === 'unreachable') throw new Error('the gateway did not answer about a dispute')
  return lookup.disputed
}

/**
 * Alerts about a dispute that could not be recorded: the event names no transaction, the record shows none, or the
 * dispute is already over here. An operator has to look.
 */
function alert({ onAlert }: ProviderEventDeps, db: TenantDb, event: WebhookReceived): void {
  const { provider, account_ref, provider_event_id } = event
  onAlert(
    { tenant_ref: db.tenant, provider, account_ref, provider_event_id },
    'a dispute that a payment provider reported could not be recorded',
  )
}
