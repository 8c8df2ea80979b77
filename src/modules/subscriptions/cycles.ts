import { Type } from 'typebox'
import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Sql } from '../../db/sql.ts'
import type { Topic } from '../../platform/outbox.ts'
import * as orders from '../orders/service.ts'
import * as queries from './cycle-queries.ts'
import {
  type BegunCycle,
  type DueSubscription,
  type Dunning,
  type PaidCycle,
  StaleSubscriptionError,
  type Stop,
  type UpdatedCard,
} from './cycle-schema.ts'
import * as declines from './decline-queries.ts'

/**
 * The cycles of a subscription: the records of the engine before, at and after a charge, in the transaction of the
 * change that they record. A subscription is locked after all rows of its order.
 */

/** The topic that wakes the scheduler when a charge has become due. */
export const WAKE_RENEWALS = 'renewals'

export const dueQueue = queries.dueQueue
export const nextDue = queries.nextDue
export const findDue = queries.findDue
export const listOfCard = queries.listOfCard
export const listOfVault = queries.listOfVault
export const blockCard = queries.blockCard
export const recordDecline = declines.insertDecline

/** Returns when a card may be charged again under a limit; null where it may be now. */
export const findFreeTime = async (
  ...of: Parameters<typeof declines.findFreeTime>
): Promise<string | null> => (await declines.findFreeTime(...of)).at

/** Whether a cycle is paid whose date is still to come. */
export const isChargedAhead = async (db: Db, id: string): Promise<boolean> =>
  (await queries.findChargedAhead(db, id)) !== null

/** Returns when a declined charge is tried again. */
export const findRetryTime = async (
  tx: Tx,
  retry: Parameters<typeof queries.findRetryTime>[1],
): Promise<string> => (await queries.findRetryTime(tx, retry)).at

/** Locks a subscription, and then reads it. */
export async function lockDue(tx: Tx, id: string): Promise<DueSubscription> {
  // It takes two statements: the second one sees all that was committed while the first one waited.
  const [, found] = await awaitAll([queries.lockSubscription(tx, id), queries.findDue(tx, id)])
  if (found === null) throw new Error('the subscription is gone')
  return found
}

/** Changes a subscription that was read before. Throws where it has changed since. */
async function change(
  tx: Tx,
  subscription: Pick<DueSubscription, 'id' | 'version'>,
  ...changes: Sql[]
): Promise<void> {
  if ((await queries.update(tx, subscription, changes)) === 0) throw new StaleSubscriptionError()
}

/**
 * Begins to charge a cycle, in the transaction that writes its order. Cycles from `from` on whose date has passed are
 * skipped. Throws where the subscription has changed since it was read: nothing of the charge is then written.
 */
export async function beginCycle(tx: Tx, begun: BegunCycle & { from: number }): Promise<void> {
  const { id, from, cycle } = begun
  const [charging, written] = await awaitAll([
    queries.markCharging(tx, begun),
    queries.upsertCharging(tx, begun),
    from < cycle && queries.skipOverdue(tx, id, from, cycle - 1),
  ])
  if (charging === 0 || written === 0) throw new StaleSubscriptionError()
}

/** Whether a subscription is charged further. One that was cancelled during a charge stays cancelled. */
const isRunning = ({ status }: DueSubscription): boolean =>
  status === 'active' || status === 'past_due'

async function requireCharging(
  tx: Tx,
  named: { id: string; cycle: number },
  decided: Parameters<typeof queries.decideCycle>[2],
): Promise<void> {
  if ((await queries.decideCycle(tx, named, decided)) === 1) return
  throw new Error(`cycle ${named.cycle} of the subscription is not being charged`)
}

/**
 * Returns the last cycle that is decided: this one, or the last of those that became due meanwhile, which are skipped
 * now.
 */
async function skipMissed(tx: Tx, id: string, cycle: number): Promise<number> {
  const { cycle: lastDue } = await queries.findLastDue(tx, id)
  if (lastDue > cycle) await queries.skipOverdue(tx, id, cycle + 1, lastDue)
  return Math.max(cycle, lastDue)
}

/**
 * Records a paid cycle: the subscription goes on with the next, or has expired. Cycles that became due while this one
 * was tried are skipped, so that no customer is charged twice in a row. Returns the subscription as it was before.
 */
export async function markPaid(
  tx: Tx,
  id: string,
  of: PaidCycle,
): Promise<{ before: DueSubscription; isExpired: boolean }> {
  const { cycle } = of
  // They are sent together, but still run one after another, the lock first.
  const [before, , last] = await awaitAll([
    lockDue(tx, id),
    requireCharging(tx, { id, cycle }, { state: 'paid', reason: null }),
    skipMissed(tx, id, cycle),
  ])
  const { max_cycles, paid_cycles } = before
  const isOver = max_cycles !== null && paid_cycles + 1 >= max_cycles
  const next = isOver ? queries.stopped('expired') : queries.activeAfter(last)
  const paid = queries.paid(of)
  await change(tx, before, queries.charged, paid, ...(isRunning(before) ? [next] : []))
  return { before, isExpired: isOver && isRunning(before) }
}

/** Records a declined charge. It is tried again later, or waits for another card. */
export async function markDeclined(
  tx: Tx,
  subscription: DueSubscription,
  cycle: number,
  dunning: Dunning,
): Promise<void> {
  const { id } = subscription
  await requireCharging(tx, { id, cycle }, { state: 'scheduled', reason: null })
  await change(tx, subscription, queries.charged, queries.dunned(dunning))
}

/** Records that a cycle has failed whose subscription was cancelled during the charge. */
export async function failCycle(
  tx: Tx,
  subscription: DueSubscription,
  cycle: number,
  reason: string,
): Promise<void> {
  const { id } = subscription
  await requireCharging(tx, { id, cycle }, { state: 'failed', reason })
  await change(tx, subscription, queries.charged)
}

/** Requests another card without a charge, because the stored one must not be charged. */
export const askForCard = (tx: Tx, subscription: DueSubscription, dunning: Dunning) =>
  change(tx, subscription, queries.dunned(dunning))

/** Records a charge that never reached the gateway. It does not count as a decline, and is tried again. */
export async function markUnsent(
  tx: Tx,
  subscription: DueSubscription,
  cycle: number,
  waitSeconds: number,
): Promise<void> {
  const { id, status } = subscription
  await requireCharging(tx, { id, cycle }, { state: 'scheduled', reason: null })
  await change(tx, subscription, queries.charged, queries.retried(status, waitSeconds))
}

/** Makes a subscription due again later, after some seconds or at a time. Nothing was charged. */
export const postpone = (tx: Tx, subscription: DueSubscription, when: number | string) =>
  change(tx, subscription, queries.retried(subscription.status, when))

/**
 * Ends or pauses a subscription. The cycle that was charged or tried counts as failed. A paused subscription goes on
 * with the next cycle once it is resumed.
 */
export async function stop(
  tx: Tx,
  subscription: DueSubscription,
  { status, reason }: Stop,
): Promise<void> {
  const { id, charging_cycle, next_cycle, attempt_count } = subscription
  if (charging_cycle !== null) {
    await requireCharging(tx, { id, cycle: charging_cycle }, { state: 'failed', reason })
  } else if (attempt_count > 0) await queries.failScheduled(tx, id, next_cycle, reason)
  const ends = status === 'paused' ? [] : [queries.cancelled(reason)]
  await change(tx, subscription, queries.charged, queries.stopped(status), ...ends)
}

/** Ends a cycle whose order was cancelled before it was paid. The subscription goes on with the next one. */
export async function giveUpCycle(
  tx: Tx,
  subscription: DueSubscription,
  cycle: number,
  reason: string,
): Promise<void> {
  const { id } = subscription
  await requireCharging(tx, { id, cycle }, { state: 'failed', reason })
  const last = await skipMissed(tx, id, cycle)
  await change(tx, subscription, queries.charged, queries.activeAfter(last))
}

/** Skips the cycle that is due, and all missed cycles before it. */
export async function skipDue(tx: Tx, subscription: DueSubscription, reason: string) {
  const { id, next_cycle, charge_cycle } = subscription
  if (next_cycle < charge_cycle) await queries.skipOverdue(tx, id, next_cycle, charge_cycle - 1)
  await queries.skipCycle(tx, id, charge_cycle, reason)
  await change(tx, subscription, queries.activeAfter(charge_cycle))
}

/** Records that the customer was notified of a charge in advance. */
export const markNoticed = (tx: Tx, subscription: DueSubscription) =>
  change(tx, subscription, queries.noticed)

/** Records a notice about the card. */
export const markCardTold = (tx: Tx, subscription: DueSubscription, told: string) =>
  change(tx, subscription, queries.cardTold(told))

/**
 * Makes an open charge due at once, because there is another card. Call it in the transaction that stores the card.
 * For a subscription without an open charge it only removes the mark that the old card was blocked.
 */
export async function retryNow(tx: Tx, id: string): Promise<void> {
  const subscription = await lockDue(tx, id)
  const { status, charging_cycle } = subscription
  const isOpen = status === 'past_due' && charging_cycle === null
  const open = isOpen ? [queries.retried(status, 0)] : []
  await change(tx, subscription, queries.unblocked, ...open)
  tx.notifyAfterCommit(WAKE_RENEWALS)
}

/** Stores the facts about a stored card that its bank has replaced, and makes an open charge due at once. */
export async function updateCard(tx: Tx, id: string, card: UpdatedCard): Promise<void> {
  await change(tx, await lockDue(tx, id), queries.newCard(card))
  await retryNow(tx, id)
}

/** Marks the stored card so that it is never charged again: its account is closed. */
export async function blockStored(tx: Tx, id: string): Promise<void> {
  await change(tx, await lockDue(tx, id), queries.blocked)
}

/** The event that a store has changed how many days before a charge its customers are notified. */
export const NOTICE_DAYS_CHANGED = {
  type: 'subscriptions.notice_days_changed.v1',
  payload: Type.Object({}),
} satisfies Topic

const NO_ID = '00000000-0000-0000-0000-000000000000'
const RESCHEDULED_AT_ONCE = 500

/**
 * Computes again when each subscription of a store is due, some at a time, so that a big store's checkouts do not
 * wait.
 */
export async function rescheduleAll(db: TenantDb, signal?: AbortSignal): Promise<void> {
  let after: string | null = NO_ID
  while (after !== null && !signal?.aborted) {
    after = (await queries.rescheduleAfter(db, after, RESCHEDULED_AT_ONCE)).last
  }
}

/**
 * Writes an action of the engine to the timeline of the origin order, where those of merchants and shoppers are, too.
 * Where the subscription is not locked yet, call it before the subscription is written: an order is locked before its
 * subscriptions.
 */
export const tellTimeline = (
  tx: Tx,
  { id: subscription_id, subscription_number, origin_order_id }: DueSubscription,
  verb: 'paused' | 'resumed' | 'skipped' | 'cancelled' | 'expired',
  data: Record<string, unknown>,
) =>
  orders.addToTimeline(tx, origin_order_id, {
    type: `subscription_${verb}`,
    actor: 'system',
    data: { subscription_id, subscription_number, ...data },
  })
