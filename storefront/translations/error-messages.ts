import { PlatformError } from '../api/platform-client.ts'
import type { Texts } from './texts.ts'

/**
 * Explains refusals of the platform to shoppers. The platform's own messages are for developers.
 */

/** The text for a code; null for a code that the table does not have, such as a newer one. */
export const findText = (table: Readonly<Record<string, string>>, code: unknown): string | null =>
  typeof code === 'string' && Object.hasOwn(table, code) ? (table[code] ?? null) : null

export const couponMessage = (texts: Texts, reason: unknown): string =>
  findText(texts.coupons, reason) ?? texts.couponRefused

export function errorMessage(texts: Texts, { code, body }: PlatformError): string {
  if (code === 'payment_declined') {
    const { reason } = Object(body.decline) as { reason?: unknown }
    return findText(texts.declines, reason) ?? texts.declined
  }
  if (code === 'coupon_invalid') return couponMessage(texts, body.reason)
  return findText(texts.refusals, code) ?? texts.failed
}

/** Whether the platform found fault with this member of the request body. */
export function concernsField({ body }: PlatformError, field: string): boolean {
  const { issues } = body as { issues?: { path?: unknown }[] }
  return (issues ?? []).some(({ path }) => String(path).replaceAll('/', '.').endsWith(field))
}

/**
 * The messages for form fields that the platform refused, by field. Empty for any other refusal.
 */
export function fieldErrors(texts: Texts, error: unknown): Record<string, string> {
  if (!(error instanceof PlatformError) || error.code !== 'invalid_body') return {}
  const errors: Record<string, string> = {}
  if (concernsField(error, 'ccnumber')) errors.number = texts.checkCardNumber
  if (concernsField(error, 'ccexp')) errors.expiry = texts.checkExpiry
  if (concernsField(error, 'cvv')) errors.cvv = texts.checkSecurityCode
  if (concernsField(error, 'payment_token')) errors.card = texts.checkCard
  if (concernsField(error, 'email')) errors.email = texts.checkEmail
  return errors
}
