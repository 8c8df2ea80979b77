import { DAY_MS } from '../../kernel/time.ts'
import type { Month } from './schema.ts'

/**
 * The calendar of billing: months of UTC, for every store. One issuer numbers the invoices of all stores,
 * and a store may change its time zone, so that by its own calendar a day could be billed twice or never
 * (decision 0055).
 */

/** How many days after its end a month is issued: on the 3rd. Until then late facts are counted into it. */
const GRACE_DAYS = 2

export const monthOf = (atMs: number): Month => `${new Date(atMs).toISOString().slice(0, 7)}-01`

export const startOf = (month: Month): number => Date.parse(month)

export function nextMonth(month: Month): Month {
  const at = new Date(month)
  return monthOf(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))
}

/** The first moment after a month. */
export const endOf = (month: Month): number => startOf(nextMonth(month))

export const daysIn = (month: Month): number => (endOf(month) - startOf(month)) / DAY_MS

/** Returns when the invoice of a month is issued. */
export const issueAt = (month: Month): number => endOf(month) + GRACE_DAYS * DAY_MS

/** The day of a time, as YYYY-MM-DD. */
export const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

/**
 * Counts the days of a month before a day. If the result is negative or more than its days, the day is outside of the
 * month.
 */
export const daysBefore = (month: Month, day: string): number =>
  (Date.parse(day) - startOf(month)) / DAY_MS

/** A day as a number that grows with it: 20261231. */
export const dayNumber = (day: string): number => Number(day.replaceAll('-', ''))

/** A month as the API names it: `2026-11`. */
export const periodOf = (month: Month): string => month.slice(0, 7)

export const PERIOD = /^(?:19|20|21)\d\d-(?:0[1-9]|1[0-2])$/

/** Reads a month such as `2026-11`. Returns null for any other text. */
export const parsePeriod = (text: string): Month | null => (PERIOD.test(text) ? `${text}-01` : null)
