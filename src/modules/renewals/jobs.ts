import type { Database, TenantDb, Tx } from '../../db/database.ts'
import type { DueWork } from '../../platform/due-work.ts'
import { createSlotWorker, type SlotWorker } from '../../platform/slot-worker.ts'
import type { CheckoutDeps } from '../checkout/service.ts'
import { type DueSubscription, StaleSubscriptionError } from '../subscriptions/cycle-schema.ts'
import * as cycles from '../subscriptions/cycles.ts'
import { endPause } from '../subscriptions/dates.ts'
import { paymentFailed, subscriptionPastDue, subscriptionResumed } from '../subscriptions/events.ts'
import { chargeDue } from './charge-money.ts'
import { noticeCard, noticeCharge } from './notices.ts'
import { EXPIRED, exhaust, retryTime, stop } from './outcome.ts'
import { type Step, stepOf } from './plan-step.ts'

/** The scheduler: looks at the subscriptions that are due, and does what each needs. */

export interface RenewalWorkerOptions extends CheckoutDeps {
  /** As fd_worker. */
  database: Database
  onFree?: () => void
  slots?: number
  leaseSeconds?: number
}

/** How many charges run at the same time: as many as a gateway answers quickly. */
const SLOTS = 20

/** The scheduler of a process. Stores take turns, and one has half of the slots at most. */
export function createRenewalWorker(options: RenewalWorkerOptions): SlotWorker {
  const { database, slots = SLOTS, onFree, leaseSeconds } = options
  return createSlotWorker({
    database,
    queue: cycles.dueQueue,
    slots,
    onFree,
    ...(leaseSeconds !== undefined && { leaseSeconds }),
    async work(row) {
      const db = database.tenant(row.tenant_ref)
      await lookAt(options, db, row.id)
      await cycles.dueQueue.release(db, row)
    },
  })
}

/** One step that the scheduler did. */
export interface Done {
  id: string
  /** When it was due. */
  at: string | null
  step: Exclude<Step, 'nothing'>
}

/** The most steps of one run: more than a subscription needs at once (a notice, the end of a pause, and a charge). */
const STEPS_MAX = 10

/** Does everything that a subscription needs now, one step after another. */
export async function lookAt(deps: CheckoutDeps, db: TenantDb, id: string): Promise<Done[]> {
  const done: Done[] = []
  for (let n = 0; n < STEPS_MAX; n++) {
    const subscription = await cycles.findDue(db, id)
    const step = subscription === null ? 'nothing' : stepOf(subscription)
    if (subscription === null || step === 'nothing') break
    try {
      await STEPS[step](deps, db, subscription)
      done.push({ id, at: subscription.due_at, step })
    } catch (error) {
      // The subscription was changed meanwhile: its next step is planned again.
      if (!(error instanceof StaleSubscriptionError)) await giveUp(deps, db, subscription, error)
    }
    // A charge is not tried again at once, whatever its outcome.
    if (step === 'charge') break
  }
  return done
}

/**
 * Handles a fault of our own, which must not delay other subscriptions: it is an alert, and
 * the step is tried again later.
 */
async function giveUp(
  deps: CheckoutDeps,
  db: TenantDb,
  subscription: DueSubscription,
  error: unknown,
): Promise<void> {
  const { id, status } = subscription
  deps.onAlert({ err: error, tenant: db.tenant, subscription_id: id }, 'a renewal failed')
  if (status !== 'active' && status !== 'past_due') throw error
  await db
    .transaction('renewals: fault', (tx) => cycles.postpone(tx, subscription, FAULT_SECONDS))
    .catch((failure: unknown) => {
      // The subscription is being charged: the reconciler finds the outcome.
      if (!(failure instanceof StaleSubscriptionError)) throw failure
    })
}

const FAULT_SECONDS = 600

type Act = (deps: CheckoutDeps, db: TenantDb, subscription: DueSubscription) => Promise<void>

const write =
  (name: string, act: (tx: Tx, subscription: DueSubscription) => Promise<unknown>): Act =>
  async (_deps, db, subscription) => {
    await db.transaction(`renewals: ${name}`, (tx) => act(tx, subscription))
  }

const STEPS: Readonly<Record<Exclude<Step, 'nothing'>, Act>> = {
  charge: chargeDue,
  notice: noticeCharge,
  card_notice: noticeCard,
  ask_for_card: write('ask for a card', askForCard),
  give_up: write('give up', (tx, subscription) => exhaust(tx, subscription)),
  end: write('end', (tx, subscription) =>
    stop(tx, subscription, { status: 'cancelled', reason: 'period_end' }),
  ),
  expire: write('expire', (tx, subscription) => stop(tx, subscription, EXPIRED)),
  resume: write('resume', async (tx, subscription) => {
    const data = { status: 'active', reason: 'paused_until' } as const
    await cycles.tellTimeline(tx, subscription, 'resumed', { reason: data.reason })
    await endPause(tx, subscription.id, subscription.time_zone)
    await subscriptionResumed.emit(tx, subscription, data)
  }),
}

/**
 * Asks for another card: the stored one must not be charged, or there is none. The store waits for as long
 * as its ladder would continue.
 */
async function askForCard(tx: Tx, subscription: DueSubscription): Promise<void> {
  const { dunning_delays_days, dunning_attempt, dunning_reason, next_cycle, status } = subscription
  const days = dunning_delays_days.slice(dunning_attempt).reduce((sum, each) => sum + each, 0)
  if (days === 0) return exhaust(tx, subscription)
  const ends_at = await retryTime(tx, subscription, { days })
  const reason = dunning_reason ?? 'card_blocked'
  const dunning = { next_at: null, ends_at, attempt: dunning_attempt, reason, is_blocked: false }
  await cycles.askForCard(tx, subscription, dunning)
  const data = { cycle: next_cycle, attempt: dunning_attempt, reason, next_attempt_at: null }
  const told = { ...data, needs_card: true, ends_at, tells: 'first' } as const
  await paymentFailed.emit(tx, subscription, told)
  if (status === 'active') await subscriptionPastDue.emit(tx, subscription, data)
}

/** How many subscriptions of a store are claimed together. */
const CLAIM_ROWS = 20

/**
 * Does the work that is due in one store, in the order of the times, until none is left
 * or `batches` batches are done.
 */
export async function runDue(
  deps: CheckoutDeps,
  db: TenantDb,
  batches = Number.POSITIVE_INFINITY,
): Promise<Done[]> {
  const done: Done[] = []
  for (let n = 0; n < batches; n++) {
    const rows = await cycles.dueQueue.claim(db, CLAIM_ROWS)
    if (rows.length === 0) break
    for (const row of rows) {
      done.push(...(await lookAt(deps, db, row.id)))
      await cycles.dueQueue.release(db, row)
    }
  }
  return done
}

/** The due work of subscriptions, for the test clock: charges, attempts, ends of pauses and notices. */
export const dueRenewals = (deps: CheckoutDeps): DueWork => ({
  kind: 'subscription',
  nextDue: cycles.nextDue,
  async runDue(db) {
    const done = await runDue(deps, db, 1)
    return { count: done.length, ran: done.map(({ id, step }) => ({ id, outcome: step })) }
  },
})
