import type { Subscription } from '../api/types.ts'

const MONTHS: Partial<Record<Subscription['interval'], number>> = { month: 1, year: 12 }
const DAYS: Partial<Record<Subscription['interval'], number>> = { day: 1, week: 7 }

/**
 * The days of the deliveries after a first one, as the platform charges them: each is counted from the first day, so
 * that 31 January is followed by 28 February and 31 March. All days are texts such as `2027-01-31`.
 */
export function comingDates(
  first: string,
  { interval, interval_count }: Pick<Subscription, 'interval' | 'interval_count'>,
  count: number,
): string[] {
  const [year = 0, month = 1, day = 1] = first.split('-').map(Number)
  return Array.from({ length: count }, (_, at) => {
    const steps = (at + 1) * interval_count
    const months = (MONTHS[interval] ?? 0) * steps
    // Day 0 of the month after is the last day of a month.
    const lastDay = new Date(Date.UTC(year, month + months, 0)).getUTCDate()
    const days = (DAYS[interval] ?? 0) * steps
    const date = Date.UTC(year, month - 1 + months, Math.min(day, lastDay) + days)
    return new Date(date).toISOString().slice(0, 10)
  })
}
