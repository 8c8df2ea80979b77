import { randomBytes } from 'node:crypto'
import { explain } from './explain.ts'
import { PlatformError } from './platform.ts'
import type { Refund } from './types.ts'
import type { Visit } from './visit.ts'

/** What is done to an order from its page: each form that was shown does one thing once. */

/** A name for one deed: the same form sent twice does it once, the form shown again does another. */
export const newDeed = (): string => randomBytes(12).toString('base64url')

export const deedOf = (form: URLSearchParams): string =>
  /^[A-Za-z0-9_-]{16}$/.exec(form.get('deed') ?? '')?.[0] ?? newDeed()

export const isRefusal = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.status < 500

interface Deed {
  operation: 'edit' | 'refund'
  key: string
}

/**
 * Why a deed was refused. A form that was gone back to, and sent with other words, has done something
 * or other before: that is said, since only then it is known whether to send it again.
 */
export async function explainDeed(
  { shop, site }: Visit,
  error: PlatformError,
  { operation, key }: Deed,
): Promise<string> {
  const { say, money } = site.words
  if (error.code !== 'idempotency_key_reused') return explain(site.words, error)
  const before = await shop.findAttempt(site, operation, key)
  if (before?.state === 'running') return say.refusals.order_busy
  if ((before?.status ?? 0) >= 400) return say.refusedDeed
  const { refund } = Object(before?.answer) as { refund?: Refund | null }
  if (operation === 'edit' || !refund) return say.doneBefore
  return say.refundedBefore(money(refund.amount_cents, refund.currency))
}
