import { sign, verify } from '../../kernel/tokens.ts'

/** What a preview token says: show this version of this store until then. */
export interface Preview {
  tenant: string
  version: number
  /** Milliseconds since the epoch. */
  expiresAt: number
}

const PREFIX = 'fdpv_'

/** The form of the payload, should it ever change. */
const FORM = 1

/** Nothing is stored: the token itself says all, and only we can sign one. */
export const makeToken = (key: Buffer, { tenant, version, expiresAt }: Preview): string =>
  PREFIX + sign(key, Buffer.from(JSON.stringify([FORM, tenant, version, expiresAt])))

/** Null for a token that is not ours to the last character, or over. */
export function readToken(key: Buffer, token: string, now: number): Preview | null {
  const payload = token.startsWith(PREFIX) ? verify(key, token.slice(PREFIX.length)) : null
  if (payload === null) return null
  const [form, tenant, version, expiresAt] = JSON.parse(payload.toString())
  return form === FORM && expiresAt > now ? { tenant, version, expiresAt } : null
}
