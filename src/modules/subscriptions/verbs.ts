import type { TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { isoNow } from '../../kernel/clock.ts'
import { DAY_MS, localDay, startOfDay } from '../../kernel/time.ts'
import { chargeInProgress } from './actions.ts'
import { type Changing, changeSubscription, type Done, reasonOf, type Work } from './change.ts'
import * as dates from './dates.ts'
import { refuse } from './errors.ts'
import { subscriptionCancelled, subscriptionPaused, subscriptionResumed } from './events.ts'
import * as queries from './queries.ts'
import type { Subscription, SubscriptionRow } from './schema.ts'
import type { Cancel, Pause, Resume, Skip } from './verb-schema.ts'

/** The verbs of a subscription, for its merchant and its shopper alike. */

/** The longest pause, five years: one beyond that is a typing error, or should have no end. */
const PAUSE_MAX_MS = 5 * 366 * DAY_MS

export const pause = (db: TenantDb, changing: Changing, { until }: Pause): Promise<Subscription> =>
  changeSubscription(db, changing, 'pause', async (work) => {
    const { row } = work
    const paused_until = until == null ? null : readEnd(work, until)
    if (row.status === 'paused' && row.paused_until === paused_until) return null
    return {
      row: { ...row, status: 'paused', paused_until },
      verb: 'paused',
      event: subscriptionPaused,
      data: { paused_until },
    }
  })

/** Reads the end of a pause: a time, or the beginning of a date of the store's calendar. */
function readEnd({ tx, store }: Work, until: string): string {
  const date = dates.readDate(until)
  const at = date === null ? dates.readTime(until) : startOfDay(store.time_zone, date).toISOString()
  const now = tx.clock.now()
  const isAhead = at !== null && Date.parse(at) > now && Date.parse(at) <= now + PAUSE_MAX_MS
  if (!isAhead) throw invalidBody('until', 'must be a time or a date in the next five years')
  return at
}

/** Ends a pause, or withdraws a cancellation at the end of the period. */
export const resume = (
  db: TenantDb,
  changing: Changing,
  { charge_now = false }: Resume,
): Promise<Subscription> =>
  changeSubscription(db, changing, 'resume', async ({ row, store }) => {
    const on = localDay(store.time_zone, new Date(db.clock.now()))
    const isPaused = row.status === 'paused'
    const resumed = {
      ...row,
      cancel_at_period_end: false,
      cancel_reason: null,
      ...(charge_now && {
        status: 'active' as const,
        paused_until: null,
        ...dates.anchorOn(row, on),
      }),
    }
    return {
      row: resumed,
      verb: 'resumed',
      event: subscriptionResumed,
      data: { charge_now },
      reschedule: charge_now ? dates.rescheduleNow : isPaused ? dates.endPause : dates.reschedule,
    }
  })

/**
 * Skips a cycle, once. A skip belongs to a cycle by its number, and moves with it when a date changes. Skipping a
 * declined charge ends its dunning.
 */
export const skip = (
  db: TenantDb,
  changing: Changing,
  { cycle: requested }: Skip,
): Promise<Subscription> =>
  changeSubscription(db, changing, 'skip', async (work): Promise<Done | null> => {
    const { tx, row } = work
    const [next] = row.coming
    const cycle = requested ?? next?.cycle ?? 0
    requireOpen(row, cycle)
    if (isSkipped(row, cycle)) return null
    const at = row.coming.find((each) => each.cycle === cycle)?.at ?? (await dateOf(work, cycle))
    const reason = reasonOf(changing.actor)
    const written = await queries.skipCycle(tx, row.id, { cycle, at, reason })
    if (written === 0) throw chargeInProgress()
    const isDeclined = row.status === 'past_due' && cycle === next?.cycle
    return {
      row: isDeclined ? { ...row, status: 'active', ...NO_DUNNING } : null,
      verb: 'skipped',
      data: { cycle },
    }
  })

const NO_DUNNING = { dunning_attempt: 0, dunning_next_at: null, dunning_reason: null }

/** Returns the date of a cycle beyond the next three. */
async function dateOf({ tx, store, row }: Work, cycle: number): Promise<string> {
  const { at } = await queries.timeOfCycle(tx, row.id, { cycle, zone: store.time_zone })
  return at
}

/** Whether a coming cycle is skipped. A cycle before the next charge is, even if its date has passed. */
const isSkipped = ({ coming: [next], skipped }: SubscriptionRow, cycle: number): boolean =>
  skipped.some((each) => each.cycle === cycle) || (next !== undefined && cycle < next.cycle)

function requireOpen(row: SubscriptionRow, cycle: number): void {
  if (cycle > row.cycle && cycle <= row.cycle + dates.SKIPS_AHEAD_MAX) return
  throw refuse('cycle_closed')
}

/** Removes the skip of a cycle, as long as the date of the cycle has not come. */
export const unskip = (
  db: TenantDb,
  changing: Changing,
  { cycle: requested }: Skip,
): Promise<Subscription> =>
  changeSubscription(db, changing, 'unskip', async ({ tx, row }) => {
    const cycle = requested ?? row.skipped[0]?.cycle ?? 0
    requireOpen(row, cycle)
    if (!isSkipped(row, cycle)) return null
    if (!row.skipped.some((each) => each.cycle === cycle)) throw refuse('cycle_closed')
    await queries.unskipCycle(tx, row.id, cycle)
    return { row: null, verb: 'unskipped', data: { cycle } }
  })

/** Cancels at once, or at the end of the paid period. A subscription that is paused or past due has no paid period. */
export const cancel = (
  db: TenantDb,
  changing: Changing,
  { at_period_end = false, reason = null }: Cancel,
): Promise<Subscription> =>
  changeSubscription(db, changing, 'cancel', async ({ row }): Promise<Done | null> => {
    const data = { at_period_end }
    if (at_period_end && row.status === 'active') {
      if (row.cancel_at_period_end) return null
      const ending = { ...row, cancel_at_period_end: true, cancel_reason: reason }
      return { row: ending, verb: 'cancel_scheduled', data }
    }
    return {
      row: {
        ...row,
        status: 'cancelled',
        cancelled_at: isoNow(db.clock),
        cancel_reason: reason ?? row.cancel_reason,
        cancel_at_period_end: false,
        paused_until: null,
        dunning_next_at: null,
      },
      verb: 'cancelled',
      event: subscriptionCancelled,
      data,
    }
  })
