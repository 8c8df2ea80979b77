import { sign, verify } from '../../kernel/tokens.ts'

/** Long enough to read what is about to be erased, too short to be kept for another day. */
const VALID_MS = 10 * 60 * 1_000

const PREFIX = 'fder_'

/** The form of the payload, should it ever change. */
const FORM = 1

interface Subject {
  tenant: string
  customer_ref: string
}

/** Nothing is stored: the value itself says whom it is about, and only we can sign one. */
export function makeConfirm(key: Buffer, { tenant, customer_ref }: Subject, now: number) {
  const until = now + VALID_MS
  const payload = Buffer.from(JSON.stringify([FORM, tenant, customer_ref, until]))
  return { confirm: PREFIX + sign(key, payload), expires_at: new Date(until).toISOString() }
}

/** Whether it is ours, about this customer, and not over. */
export function isConfirmed(key: Buffer, subject: Subject, confirm: string, now: number): boolean {
  const payload = confirm.startsWith(PREFIX) ? verify(key, confirm.slice(PREFIX.length)) : null
  if (payload === null) return false
  const [form, tenant, customer_ref, until] = JSON.parse(payload.toString())
  const same = tenant === subject.tenant && customer_ref === subject.customer_ref
  return form === FORM && same && until > now
}
