const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

/** A time that is still to come, in UTC, or null. */
export function toFutureUtc(text: string): string | null {
  const at = toUtc(text)
  return at !== null && Date.parse(at) > Date.now() ? at : null
}

/**
 * A date or a time of ISO 8601 as a timestamp in UTC, or null when it is none that PostgreSQL reads:
 * an offset of twenty hours is one, the year 0 or 10000 is not. Without an offset it is UTC, whatever
 * the zone of this machine.
 */
export function toUtc(text: string): string | null {
  const [, date, time = '00:00', offset = 'Z'] = ISO.exec(text) ?? []
  if (date === undefined) return null
  const at = new Date(`${date}T${time}${offset.toUpperCase()}`)
  const year = at.getUTCFullYear()
  return year >= 1 && year <= 9_999 ? at.toISOString() : null
}

/** How many minutes a zone's clocks are ahead of UTC at a time. */
export function offsetMinutes(timeZone: string, at: Date): number {
  const written = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours, minutes] = /^GMT([+-])(\d\d):(\d\d)/.exec(written ?? '') ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
