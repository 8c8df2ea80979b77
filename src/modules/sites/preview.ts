import { sign, verify } from '../../kernel/tokens.ts'

/** The content of a preview token: which version of which store it shows, and until when. */
export interface Preview {
  tenant: string
  version: number
  /** Milliseconds since the epoch. */
  expiresAt: number
}

const PREFIX = 'fdpv_'

/** The version of the format of the payload, should it ever change. */
const PAYLOAD_VERSION = 1

/** Creates a signed token. Nothing is stored: the token contains everything. */
export const createToken = (key: Buffer, { tenant, version, expiresAt }: Preview): string =>
  PREFIX + sign(key, Buffer.from(JSON.stringify([PAYLOAD_VERSION, tenant, version, expiresAt])))

/** Verifies a token. Returns null if it is expired, or not exactly one that we signed. */
export function readToken(key: Buffer, token: string, now: number): Preview | null {
  const payload = token.startsWith(PREFIX) ? verify(key, token.slice(PREFIX.length)) : null
  if (payload === null) return null
  const [payloadVersion, tenant, version, expiresAt] = JSON.parse(payload.toString())
  return payloadVersion === PAYLOAD_VERSION && expiresAt > now
    ? { tenant, version, expiresAt }
    : null
}
