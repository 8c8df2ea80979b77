import { PlatformError } from './platform.ts'
import type { Words } from './words.ts'

/** Refusals of the platform, as a shopper can understand them. Never the platform's own words. */

type Table = Readonly<Record<string, string>>

/** Null for a code that is newer than we are, or comes from somewhere else. */
export const findName = (table: Table, code: unknown): string | null =>
  typeof code === 'string' && Object.hasOwn(table, code) ? (table[code] ?? null) : null

export const couponWords = ({ say }: Words, reason: unknown): string =>
  findName(say.coupons, reason) ?? say.couponOther

export function explain(words: Words, error: PlatformError): string {
  const { say } = words
  const { code, body } = error
  if (code === 'payment_declined') {
    const { reason } = Object(body.decline) as { reason?: unknown }
    return `${findName(say.declines, reason) ?? say.declined} ${say.anotherCard}`
  }
  if (code === 'coupon_invalid') return couponWords(words, body.reason)
  return findName(say.refusals, code) ?? say.failed
}

/** Whether a body was refused for this field of it. */
export function isAbout({ body }: PlatformError, field: string): boolean {
  const { issues } = body as { issues?: { path?: unknown }[] }
  return (issues ?? []).some(({ path }) => String(path).replaceAll('/', '.').endsWith(field))
}

/** Whether a card, and which of its fields, is what a refusal is about. */
export function cardFaults({ say }: Words, error: unknown): Record<string, string> {
  if (!(error instanceof PlatformError) || error.code !== 'invalid_body') return {}
  const faults: Record<string, string> = {}
  const about = (field: string) => isAbout(error, field)
  if (about('ccnumber')) faults.number = say.checkNumber
  if (about('ccexp')) faults.expiry = say.checkExpiry
  if (about('cvv')) faults.cvv = say.checkCode
  if (about('email')) faults.email = say.checkAddress
  return faults
}
