import type { Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { localDay, toUtc } from '../../kernel/time.ts'
import { WAKE_RENEWALS } from './cycles.ts'
import * as schedule from './schedule-queries.ts'
import type { SubscriptionRow } from './schema.ts'

/**
 * When subscriptions are charged. Cycle `c` falls on `fd_period_start(anchor_on, ..., c - anchor_cycle)`:
 * the anchor is all that is ever moved, and `next_charge_at` and `due_at` always follow from the row by
 * `reschedule`, which every writer of a subscription calls.
 */

/** How many cycles ahead can be skipped: two years of a monthly subscription. */
export const SKIPS_AHEAD_MAX = 24

/** Sets the next charge of a subscription by its row. */
export const reschedule = (tx: Tx, id: string, zone: string): Promise<unknown> =>
  schedule.reschedule(tx, id, { zone, isNow: false })

/** The same, and the charge is due at once. */
export function rescheduleNow(tx: Tx, id: string, zone: string): Promise<unknown> {
  tx.notifyAfterCommit(WAKE_RENEWALS)
  return schedule.reschedule(tx, id, { zone, isNow: true })
}

/** Ends the pause of a subscription, by a verb or because its time has come. */
export async function endPause(tx: Tx, id: string, zone: string): Promise<void> {
  await schedule.endPause(tx, id, zone)
  await reschedule(tx, id, zone)
}

type Anchor = Pick<SubscriptionRow, 'anchor_on' | 'anchor_cycle'>

/**
 * The anchor by which the next charge keeps its date, for a subscription whose interval changes: the
 * new interval counts from there.
 */
export function anchorAtNextCharge(row: SubscriptionRow, zone: string): Anchor {
  const { anchor_on, anchor_cycle } = row
  const [next] = row.coming
  if (next === undefined) return { anchor_on, anchor_cycle }
  const at = row.next_charge_at ?? next.at
  return { anchor_on: localDay(zone, new Date(at)), anchor_cycle: next.cycle }
}

/** The anchor by which the next charge falls on a date. */
export function anchorOn(row: SubscriptionRow, on: string): Anchor {
  const [next] = row.coming
  return { anchor_on: on, anchor_cycle: next?.cycle ?? row.cycle + 1 }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DAY_MS = 86_400_000

/** Ten years: beyond that a date is a typing error. */
const AHEAD_MAX_MS = 3_660 * DAY_MS

/** A date, or null for any other text, also for a day that its month does not have. */
export const readDate = (text: string): string | null =>
  DATE.test(text) && toUtc(text)?.startsWith(text) ? text : null

/** A time, or null for a date and for any other text. */
export const readTime = (text: string): string | null => (DATE.test(text) ? null : toUtc(text))

/**
 * Reads the date of the next charge: a date of the store's calendar, or that of a time. It is after
 * today, since the charge of today may be made already.
 */
export function readChargeDate(text: string, now: number, zone: string): string {
  const at = readTime(text)
  const on = readDate(text) ?? (at === null ? null : localDay(zone, new Date(at)))
  if (on === null) throw invalidBody('next_charge_at', 'must be a date or a time of ISO 8601')
  const isAhead = on > localDay(zone, new Date(now)) && Date.parse(on) <= now + AHEAD_MAX_MS
  if (!isAhead) throw invalidBody('next_charge_at', 'must be after today, within ten years')
  return on
}
