import { randomBytes } from 'node:crypto'

/**
 * A key for the forms of one order page, in their hidden field `action_key`. It becomes part of the
 * idempotency key: a form that is sent twice acts once, and a page that is loaded again can act
 * again.
 */
export const newActionKey = (): string => randomBytes(12).toString('base64url')

export const readActionKey = (form: URLSearchParams): string =>
  /^[A-Za-z0-9_-]{16}$/.exec(form.get('action_key') ?? '')?.[0] ?? newActionKey()
