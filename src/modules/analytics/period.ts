import type { Db } from '../../db/database.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { addDays, DAY_MS, isDay, localDay } from '../../kernel/time.ts'
import * as stores from '../stores/service.ts'
import { finalBefore } from './count.ts'
import { findGeneration } from './count-queries.ts'
import { DEFINITION_VERSION } from './definition-schema.ts'
import { type Calendar, type Generation, INTERVALS, type Interval, type Period } from './schema.ts'

/** The days of a report, and up to which day they are counted. */

const DEFAULT_DAYS = 30

/** The longest period of a report: three years. A reader asks for more in parts. */
const DAYS_MAX = 1_096

/**
 * The longest period of a cohort: a century. A cohort has all orders until now, and its rows are read by its
 * own days alone.
 */
export const COHORT_DAYS_MAX = 36_525

/** What a report is asked for, as its route read it. */
export interface ReportRequest {
  period: Period
  calendar: Calendar
  currency: string
  timezone: string
  /** Null: nothing was sold yet. */
  generation: Generation | null
}

function readDay(query: unknown, name: string): string | undefined {
  const text = readText(query, name)?.slice(0, 10) ?? ''
  return isDay(text) && text > '1900' ? text : undefined
}

/** Reads `from` and `to`: an absent or invalid date gets its default, and a period is cut to the longest. */
export function readPeriod(query: unknown, today: string, daysMax = DAYS_MAX): Period {
  const to = readDay(query, 'to') ?? today
  const begins = readDay(query, 'from') ?? addDays(to, 1 - DEFAULT_DAYS)
  const longest = addDays(to, 1 - daysMax)
  const from = begins > to ? to : begins < longest ? longest : begins
  return { from, to }
}

/** The period of the same length before. */
export function periodBefore({ from, to }: Period): Period {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  return { from: addDays(from, -days), to: addDays(from, -1) }
}

/** Lists the days of a period. */
export function daysOf({ from, to }: Period): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}

export async function readReportRequest(
  db: Db,
  query: unknown,
  daysMax = DAYS_MAX,
): Promise<ReportRequest> {
  const [generation, store] = await Promise.all([findGeneration(db, 'serving'), stores.get(db)])
  const timezone = generation?.time_zone ?? store.time_zone
  const currency = readText(query, 'currency') ?? ''
  return {
    period: readPeriod(query, localDay(timezone, new Date(db.clock.now())), daysMax),
    calendar: readOneOf(query, 'calendar', ['booked', 'cohort']) ?? 'booked',
    currency: /^[A-Z]{3}$/.test(currency) ? currency : store.currency,
    timezone,
    generation,
  }
}

export const readInterval = (query: unknown): Interval =>
  readOneOf(query, 'interval', INTERVALS) ?? 'day'

/** Makes the head of every answer. Some reports are final later than the ledger. */
export const headOf = (request: ReportRequest, final_until = finalUntil(request)) => {
  const { period, currency, timezone, generation } = request
  return {
    ...period,
    timezone,
    currency,
    definition_version: DEFINITION_VERSION,
    as_of: generation?.counted_at ?? null,
    final_until,
  }
}

/** Returns the last day whose figures are final. In the calendar of cohorts no day is: a refund can always come. */
export function finalUntil({ calendar, generation }: ReportRequest): string | null {
  const before = generation === null ? null : finalBefore(generation)
  return before === null || calendar === 'cohort' ? null : addDays(before, -1)
}

/** The first day of the interval that a day is in. Weeks begin on Monday. */
export function bucketOf(day: string, interval: Interval): string {
  if (interval === 'day') return day
  if (interval === 'month') return `${day.slice(0, 7)}-01`
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  return addDays(day, -weekday)
}

/** The intervals of a period, each cut to the period. */
export function bucketsOf(period: Period, interval: Interval): (Period & { start: string })[] {
  const buckets = new Map<string, Period & { start: string }>()
  for (const day of daysOf(period)) {
    const start = bucketOf(day, interval)
    const known = buckets.get(start)
    if (known === undefined) buckets.set(start, { start, from: day, to: day })
    else known.to = day
  }
  return [...buckets.values()]
}
