import { sign, verify } from '../../kernel/tokens.ts'

/**
 * How long the token is valid: long enough to read what will be erased, and too short to keep the token for another
 * day.
 */
const VALID_MS = 10 * 60 * 1_000

const PREFIX = 'fder_'

/** The version of the payload, in case it changes. */
const VERSION = 1

interface Subject {
  tenant: string
  customer_ref: string
}

/** Creates the token that confirms an erasure. It names the customer and is signed, so it need not be stored. */
export function createErasureToken(key: Buffer, { tenant, customer_ref }: Subject, now: number) {
  const until = now + VALID_MS
  const payload = Buffer.from(JSON.stringify([VERSION, tenant, customer_ref, until]))
  return { confirm: PREFIX + sign(key, payload), expires_at: new Date(until).toISOString() }
}

/** Whether the token is ours, names this customer and has not expired. */
export function isErasureToken(
  key: Buffer,
  subject: Subject,
  confirm: string,
  now: number,
): boolean {
  const payload = confirm.startsWith(PREFIX) ? verify(key, confirm.slice(PREFIX.length)) : null
  if (payload === null) return false
  const [version, tenant, customer_ref, until] = JSON.parse(payload.toString())
  const same = tenant === subject.tenant && customer_ref === subject.customer_ref
  return version === VERSION && same && until > now
}
