export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
/** A day of 24 hours. By the calendar of a zone a day may have 23 or 25: see `addByCalendar`. */
export const DAY_MS = 86_400_000

export const HOUR_SECONDS = 3_600
export const DAY_SECONDS = 86_400

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

/**
 * Converts a date or a time of ISO 8601 to a timestamp in UTC. Returns null when PostgreSQL could not read it: an
 * offset of twenty hours is valid, the year 0 or 10000 is not. A text without an offset is UTC, whatever the time
 * zone of this machine.
 */
export function toUtc(text: string): string | null {
  const [, date, time = '00:00', offset = 'Z'] = ISO.exec(text) ?? []
  if (date === undefined) return null
  const at = new Date(`${date}T${time}${offset.toUpperCase()}`)
  const year = at.getUTCFullYear()
  return year >= 1 && year <= 9_999 ? at.toISOString() : null
}

const DAY = /^\d{4}-\d\d-\d\d$/

/** Whether a text is a date. The 30th of February is none: JavaScript reads it as a day of March. */
export function isDay(text: string): boolean {
  const at = DAY.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text
}

export type CalendarUnit = 'day' | 'week' | 'month' | 'year'

/** Returns the local time of a zone, as if it were UTC. */
const localTime = (timeZone: string, at: Date): Date =>
  new Date(at.getTime() + offsetMs(timeZone, at))

/** Returns the date of a time in a zone, as YYYY-MM-DD. */
export const localDay = (timeZone: string, at: Date): string =>
  localTime(timeZone, at).toISOString().slice(0, 10)

/** Adds days to a date, by the calendar. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/**
 * Returns the first moment of a date in a zone. Where clocks are put forward at midnight, that date has no 0:00;
 * where they are put back, it has 0:00 twice and begins with the second one.
 */
export function startOfDay(timeZone: string, day: string): Date {
  const midnight = Date.parse(day)
  const offsets = [midnight - DAY_MS, midnight + DAY_MS].map((ms) =>
    offsetMs(timeZone, new Date(ms)),
  )
  const starts = offsets.map((offset) => midnight - offset).sort((a, b) => a - b)
  const isStart = (ms: number) =>
    localDay(timeZone, new Date(ms)) >= day && localDay(timeZone, new Date(ms - 1)) < day
  return new Date(starts.find(isStart) ?? starts.at(-1) ?? midnight)
}

/**
 * Adds calendar units in a zone and keeps the time of day: one month after the 31st of January is
 * the last of February. A time that the zone's clocks skip is moved later by as much, so that it is
 * still on that day.
 */
export function addByCalendar(timeZone: string, at: Date, count: number, unit: CalendarUnit): Date {
  const local = localTime(timeZone, at)
  if (unit === 'day' || unit === 'week') {
    local.setUTCDate(local.getUTCDate() + count * (unit === 'week' ? 7 : 1))
  } else {
    const day = local.getUTCDate()
    local.setUTCDate(1)
    local.setUTCMonth(local.getUTCMonth() + count * (unit === 'year' ? 12 : 1))
    const next = Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)
    local.setUTCDate(Math.min(day, new Date(next).getUTCDate()))
  }
  return fromLocal(timeZone, local, at)
}

/** Returns the time at which a zone's clocks show a local time; later by as much where they skip it. */
function fromLocal(timeZone: string, local: Date, near: Date): Date {
  const before = offsetMs(timeZone, new Date(local.getTime() - offsetMs(timeZone, near)))
  const then = offsetMs(timeZone, new Date(local.getTime() - before))
  return new Date(local.getTime() - Math.min(before, then))
}

/** Returns the time of an hour of a day in a zone. Returns null when the text is not a day of the calendar. */
export function hourOfDay(timeZone: string, day: string, hour: number): Date | null {
  const local = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(0, 10) !== day) return null
  local.setUTCHours(hour)
  return fromLocal(timeZone, local, local)
}

const offsetMs = (timeZone: string, at: Date): number => offsetMinutes(timeZone, at) * MINUTE_MS

/**
 * The formats by zone. They are kept, since making a format takes longer than using it a thousand times. There are some
 * 600 zones.
 */
const offsetFormats = new Map<string, Intl.DateTimeFormat>()

function offsetFormat(timeZone: string): Intl.DateTimeFormat {
  const known = offsetFormats.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  offsetFormats.set(timeZone, made)
  return made
}

/**
 * The time from which on offsets are cached by the minute: since 1973 clocks are changed at a full minute, so that one
 * offset holds for the whole minute.
 */
const MINUTES_SINCE_MS = Date.UTC(1973, 0)

/** How many offsets are cached, at some hundred bytes each. When there are more, the map starts again empty. */
const OFFSETS_MAX = 10_000
const offsets = new Map<string, number>()

/** Returns the offset of a zone from UTC at a time, in minutes. */
function offsetMinutes(timeZone: string, at: Date): number {
  const ms = at.getTime()
  if (!(ms >= MINUTES_SINCE_MS)) return askOffset(timeZone, at)
  const name = `${timeZone} ${Math.floor(ms / MINUTE_MS)}`
  const known = offsets.get(name)
  if (known !== undefined) return known
  if (offsets.size >= OFFSETS_MAX) offsets.clear()
  const minutes = askOffset(timeZone, at)
  offsets.set(name, minutes)
  return minutes
}

function askOffset(timeZone: string, at: Date): number {
  const written = offsetFormat(timeZone)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(written ?? '') ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
