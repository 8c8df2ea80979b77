import type { Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { DAY_MS, localDay, toUtc } from '../../kernel/time.ts'
import { WAKE_RENEWALS } from './cycles.ts'
import * as schedule from './schedule-queries.ts'
import type { SubscriptionRow } from './schema.ts'

/**
 * When subscriptions are charged. Cycle `c` falls on `fd_period_start(anchor_on, ..., c - anchor_cycle)`: only the
 * anchor is ever moved. `next_charge_at` and `due_at` always follow from the row by `reschedule`, which every writer
 * of a subscription calls. Why an anchor: decision 0045.
 */

/** How many cycles ahead can be skipped: two years of a monthly subscription. */
export const SKIPS_AHEAD_MAX = 24

/** Sets when a subscription is charged next, by its row. */
export const reschedule = (tx: Tx, id: string, zone: string): Promise<unknown> =>
  schedule.reschedule(tx, id, { zone, isNow: false })

/** Sets the next charge like `reschedule`, and makes it due at once. */
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
 * Returns the anchor that keeps the date of the next charge, for a subscription whose interval changes: the new
 * interval counts from there.
 */
export function anchorAtNextCharge(row: SubscriptionRow, zone: string): Anchor {
  const { anchor_on, anchor_cycle } = row
  const [next] = row.coming
  if (next === undefined) return { anchor_on, anchor_cycle }
  const at = row.next_charge_at ?? next.at
  return { anchor_on: localDay(zone, new Date(at)), anchor_cycle: next.cycle }
}

/** Returns the anchor that makes the next charge fall on a date. */
export function anchorOn(row: SubscriptionRow, on: string): Anchor {
  const [next] = row.coming
  return { anchor_on: on, anchor_cycle: next?.cycle ?? row.cycle + 1 }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/

/** How far ahead a charge may be set, ten years: a date beyond that is a typing error. */
const AHEAD_MAX_MS = 3_660 * DAY_MS

/** Reads a date. Returns null for any other text, such as a day that its month does not have. */
export const readDate = (text: string): string | null =>
  DATE.test(text) && toUtc(text)?.startsWith(text) ? text : null

/** Reads a time. Returns null for a date and for any other text. */
export const readTime = (text: string): string | null => (DATE.test(text) ? null : toUtc(text))

/**
 * Reads the date of the next charge: a date of the store's calendar, or the date of a time in it. It must be after
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
