import type { Site } from '../site/site.ts'

/** When goods arrive, in dates: counted from the day of the order, by the working days of the store's policy. */

const SATURDAY = 6
const SUNDAY = 0

/** The day that comes this many working days, Monday to Friday, after a day such as `2026-12-24`. */
export function addWorkingDays(day: string, count: number): string {
  const date = new Date(`${day}T00:00:00Z`)
  for (let left = count; left > 0; ) {
    date.setUTCDate(date.getUTCDate() + 1)
    if (date.getUTCDay() !== SATURDAY && date.getUTCDay() !== SUNDAY) left -= 1
  }
  return date.toISOString().slice(0, 10)
}

/**
 * Says when goods that are ordered at a time arrive; null if the store does not say how long they take, and if all of
 * these days have passed: then the page cannot know.
 */
export function arrivalNote(
  { deliveryDays, locale }: Pick<Site, 'deliveryDays' | 'locale'>,
  speed: keyof Site['deliveryDays'],
  orderedAt = new Date().toISOString(),
): string | null {
  const days = deliveryDays[speed]
  if (days === null) return null
  const ordered = locale.dateValue(orderedAt)
  const [first, last] = [addWorkingDays(ordered, days.min), addWorkingDays(ordered, days.max)]
  if (last < locale.dateValue(new Date().toISOString())) return null
  return locale.texts.arrival({ days: locale.formatDays(first, last) })
}
