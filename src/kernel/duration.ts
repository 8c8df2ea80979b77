import { addByCalendar } from './time.ts'

const PARTS = {
  years: 'Y',
  months: 'M',
  weeks: 'W',
  days: 'D',
} as const
const TIMES = { hours: 'H', minutes: 'M', seconds: 'S' } as const

const groupsOf = (parts: Readonly<Record<string, string>>) =>
  Object.entries(parts)
    .map(([name, letter]) => `(?:(?<${name}>\\d{1,9})${letter})?`)
    .join('')

/** A duration of ISO 8601 in whole units, with at least one of them. */
const DURATION = new RegExp(`^P(?=.)${groupsOf(PARTS)}(?:T(?=.)${groupsOf(TIMES)})?$`)

/**
 * Adds a duration of ISO 8601, such as `P1M` or `P3DT12H`, to a time: years, months, weeks and days by the calendar
 * of a zone, so that the time of day stays; hours, minutes and seconds as fixed lengths. Returns null where the text
 * is not such a duration, or leads beyond the year 9999.
 */
export function addDuration(timeZone: string, at: Date, text: string): Date | null {
  const groups = DURATION.exec(text)?.groups
  if (groups === undefined) return null
  const count = (name: keyof typeof PARTS | keyof typeof TIMES) => Number(groups[name] ?? 0)
  const months = 12 * count('years') + count('months')
  const days = 7 * count('weeks') + count('days')
  const seconds = 3_600 * count('hours') + 60 * count('minutes') + count('seconds')
  // A day has at most 25 hours. Beyond the range the calendar functions do not work.
  if (at.getTime() + (31 * months + days) * 90_000_000 + seconds * 1_000 > DATE_MAX) return null
  const month = addByCalendar(timeZone, at, months, 'month')
  const day = addByCalendar(timeZone, month, days, 'day')
  return new Date(day.getTime() + seconds * 1_000)
}

/** The last day that the API can write, in the year 9999, in milliseconds since 1970. */
const DATE_MAX = Date.UTC(9999, 11, 31)
