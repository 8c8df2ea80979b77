import { awaitAll } from '../../db/await-all.ts'
import type { Tx } from '../../db/database.ts'
import type { EndedRenewal } from '../checkout/ports.ts'
import type { OrderRow } from '../orders/schema.ts'
import { addToTimeline } from '../orders/service.ts'
import type { GatewayResult } from '../payments/adapters/schema.ts'
import type { DueSubscription, Stop } from '../subscriptions/cycle-schema.ts'
import * as cycles from '../subscriptions/cycles.ts'
import {
  paymentFailed,
  subscriptionCancelled,
  subscriptionExpired,
  subscriptionPastDue,
  subscriptionPaused,
  subscriptionRecovered,
  subscriptionRenewed,
  subscriptionSkipped,
} from '../subscriptions/events.ts'
import { adviceDays, classOf, type DeclineClass } from './decline-rules.ts'
import { type DunningPlan, planDunning } from './plan-dunning.ts'

/**
 * Applies the outcome of a renewal to its subscription, in the transaction that writes the outcome. So it does not
 * matter whether the call, the reconciler, a late event or an operator has found it (decision 0044).
 */
export async function onRenewal(tx: Tx, ended: EndedRenewal): Promise<void> {
  const { order } = ended
  const { subscription_id: id, subscription_cycle: cycle } = order
  if (id === null || cycle === null) throw new Error('the order renews no subscription')
  if (ended.kind === 'paid') return recordPaid(tx, { id, cycle }, ended)
  const subscription = await cycles.lockDue(tx, id)
  await addToTimeline(tx, order.id, {
    type: 'renewal_failed',
    actor: 'system',
    data: { subscription_id: id, cycle, reason: ended.failure },
  })
  if (subscription.status !== 'active' && subscription.status !== 'past_due')
    return cycles.failCycle(tx, subscription, cycle, 'cancelled')
  if (ended.failure === 'fraud')
    return stop(tx, subscription, { status: 'paused', reason: 'fraud' })
  const declined = classOf(ended.result)
  const failed = { order, cycle, declined, result: ended.result }
  if (declined !== 'unsent') await recordDecline(tx, subscription, failed)
  const plan = planDunning(declined, subscription, adviceDays(ended.result))
  await follow(tx, subscription, failed, plan)
}

async function recordPaid(
  tx: Tx,
  { id, cycle }: { id: string; cycle: number },
  { order, items }: Extract<EndedRenewal, { kind: 'paid' }>,
): Promise<void> {
  const [line] = items
  if (line === undefined) throw new Error('a renewal has one line')
  const { unit_price_cents } = line
  const { prices_include_tax } = order
  const paid = { cycle, order_id: order.id, unit_price_cents, prices_include_tax }
  const { before, isExpired } = await cycles.markPaid(tx, id, paid)
  const data = { subscription_id: id, cycle }
  const { id: order_id, order_number, total_cents } = order
  const shown = { cycle, order: { id: order_id, order_number, total_cents } }
  await awaitAll([
    addToTimeline(tx, order.id, { type: 'renewed', actor: 'system', data }),
    subscriptionRenewed.emit(tx, before, shown, order_id),
    before.status === 'past_due' && subscriptionRecovered.emit(tx, before, shown, order_id),
    isExpired && subscriptionExpired.emit(tx, before, { ...shown, ...EXPIRED }, order_id),
    isExpired && cycles.tellTimeline(tx, before, 'expired', { reason: EXPIRED.reason }),
  ])
}

export const EXPIRED: Stop = { status: 'expired', reason: 'max_cycles' }

interface FailedCharge {
  order: OrderRow
  cycle: number
  declined: DeclineClass
  result: GatewayResult | null
}

const recordDecline = (
  tx: Tx,
  { id, card_fingerprint, vault_id }: DueSubscription,
  { order, cycle, declined, result }: FailedCharge,
) =>
  cycles.recordDecline(tx, {
    subscription_id: id,
    cycle,
    order_id: order.id,
    card: card_fingerprint ?? vault_id,
    amount_cents: order.total_cents,
    currency: order.currency,
    code: result?.code ?? null,
    network_code: result?.network_code ?? null,
    advice_code: result?.advice_code ?? null,
    class: declined,
  })

async function follow(
  tx: Tx,
  subscription: DueSubscription,
  failed: FailedCharge,
  plan: DunningPlan,
): Promise<void> {
  const { card_fingerprint } = subscription
  if (plan.kind === 'resend') return cycles.markUnsent(tx, subscription, failed.cycle, plan.seconds)
  if (plan.kind === 'stop') {
    await stop(tx, subscription, STOPPED, failed.order)
    if (plan.isAll && card_fingerprint !== null) await stopCard(tx, card_fingerprint)
    return
  }
  // The card is blocked in other subscriptions, too: a network's "never again" is about the card.
  if (failed.declined === 'hard' && card_fingerprint !== null)
    await cycles.blockCard(tx, card_fingerprint)
  if (plan.kind === 'exhausted') return exhaust(tx, subscription, failed.order)
  await dun(tx, subscription, failed, plan)
}

const STOPPED: Stop = { status: 'cancelled', reason: 'stopped_by_bank' }

/**
 * Stops the subscriptions of a card whose customer has ended all agreements at the bank. A subscription that is
 * being charged ends by the outcome of that charge.
 */
async function stopCard(tx: Tx, card_fingerprint: string): Promise<void> {
  for (const { id } of await cycles.listOfCard(tx, card_fingerprint)) {
    const other = await cycles.lockDue(tx, id)
    if (other.charging_cycle === null) await stop(tx, other, STOPPED)
  }
  await cycles.blockCard(tx, card_fingerprint)
}

async function dun(
  tx: Tx,
  subscription: DueSubscription,
  { order, cycle, result }: FailedCharge,
  plan: Extract<DunningPlan, { kind: 'retry' | 'await_card' }>,
): Promise<void> {
  const reason = result?.reason ?? order.payment_failure ?? 'processing_error'
  const { attempt } = plan
  const at = await retryTime(tx, subscription, plan)
  const isRetry = plan.kind === 'retry'
  const dunning = {
    next_at: isRetry ? at : null,
    ends_at: isRetry ? null : at,
    attempt,
    reason,
    is_blocked: plan.kind === 'await_card' && plan.isBlocked,
  }
  await cycles.markDeclined(tx, subscription, cycle, dunning)
  const tells = attempt === 1 || !isRetry ? 'first' : plan.isLast ? 'last' : null
  const data = { cycle, attempt, reason, next_attempt_at: dunning.next_at }
  const told = { ...data, needs_card: !isRetry, ends_at: dunning.ends_at, tells } as const
  await paymentFailed.emit(tx, subscription, told, order.id)
  if (subscription.status === 'active')
    await subscriptionPastDue.emit(tx, subscription, data, order.id)
}

export const retryTime = (
  tx: Tx,
  { id, time_zone: zone }: DueSubscription,
  { days, ...plan }: { days: number; payday?: boolean },
) => cycles.findRetryTime(tx, { id, days, payday: plan.payday ?? false, zone })

/** Gives up a charge that was declined too often, or for which no other card was given. */
export function exhaust(tx: Tx, subscription: DueSubscription, order?: OrderRow): Promise<void> {
  const status = subscription.on_exhausted === 'pause' ? 'paused' : 'unpaid_cancelled'
  return stop(tx, subscription, { status, reason: 'unpaid' }, order)
}

/** Ends or pauses a subscription, and emits the event. */
export async function stop(
  tx: Tx,
  subscription: DueSubscription,
  to: Stop,
  order?: OrderRow,
): Promise<void> {
  const { status, reason } = to
  const { verb, event } = ENDS[status]
  await cycles.tellTimeline(tx, subscription, verb, { status, reason })
  await cycles.stop(tx, subscription, to)
  await event.emit(tx, subscription, { status, reason }, order?.id)
}

const CANCELLED = { verb: 'cancelled', event: subscriptionCancelled } as const
const ENDS = {
  cancelled: CANCELLED,
  unpaid_cancelled: CANCELLED,
  expired: { verb: 'expired', event: subscriptionExpired },
  paused: { verb: 'paused', event: subscriptionPaused },
} as const satisfies Record<Stop['status'], object>

/**
 * Gives up the cycle of an order that was cancelled before it was paid: its merchant has rejected it, or
 * it was not reviewed in time. A customer who was rejected for fraud is not charged again until the
 * merchant resumes the subscription.
 */
export async function onCancelledRenewal(tx: Tx, order: OrderRow, reason: string): Promise<void> {
  const { subscription_id: id, subscription_cycle: cycle, placed_at } = order
  if (id === null || cycle === null || placed_at !== null) return
  const subscription = await cycles.lockDue(tx, id)
  const { status, charging_cycle } = subscription
  if (charging_cycle !== cycle) return
  if (status !== 'active' && status !== 'past_due')
    return cycles.failCycle(tx, subscription, cycle, 'cancelled')
  if (reason === 'fraud') return stop(tx, subscription, { status: 'paused', reason }, order)
  await cycles.tellTimeline(tx, subscription, 'skipped', { cycle, reason })
  await cycles.giveUpCycle(tx, subscription, cycle, reason)
  await subscriptionSkipped.emit(tx, subscription, { cycle, reason }, order.id)
}
