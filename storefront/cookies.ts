import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/**
 * What a shopper's browser keeps for us: in the open, but only as we wrote it. Bound to the cookie's
 * name and the store, so that one cannot be sent as another.
 */
export interface Cookies {
  read(header: string | undefined, name: string, tenant: string): unknown
  write(name: string, tenant: string, value: unknown, days: number): string
  clear(name: string): string
  /** Not signed: a text that proves itself. */
  readPlain(header: string | undefined, name: string): string | undefined
  writePlain(name: string, value: string, seconds: number): string
}

const MAC_BYTES = 24
/** Of visitors who have been here a moment ago. A cookie is at most a few kilobytes. */
const PROVEN_MAX = 4_096
const DAY_SECONDS = 86_400

/** The first secret signs; all of them are accepted, so that a token can be changed without loss. */
export function openCookies(secrets: readonly string[], secure: boolean): Cookies {
  const keys = secrets.map((each) => Buffer.from(hkdfSync('sha256', each, '', 'shop cookies', 32)))
  const [signing] = keys
  if (signing === undefined) throw new Error('cookies need a secret')
  const fullName = (name: string) => `${secure ? '__Host-' : ''}fd_${name}`
  const flags = `; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const put = (name: string, value: string, seconds: number) =>
    `${fullName(name)}=${value}; Max-Age=${seconds}${flags}`

  const proven = new Map<string, unknown>()

  /** The same text for the same store was ours before, and is ours still: keys do not change. */
  function prove(name: string, tenant: string, text: string): unknown {
    const place = `${name} ${tenant} ${text}`
    const known = proven.get(place)
    if (known !== undefined) return known
    const [payload, mac] = text.split('.')
    if (!payload || !mac) return null
    const isOurs = keys.some((key) => equal(mac, macOf(key, name, tenant, payload)))
    if (!isOurs) return null
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const [oldest] = proven.keys()
    if (proven.size >= PROVEN_MAX && oldest !== undefined) proven.delete(oldest)
    proven.set(place, value)
    return value
  }

  return {
    read(header, name, tenant) {
      const text = find(header, fullName(name))
      return text === undefined ? null : prove(name, tenant, text)
    },
    write(name, tenant, value, days) {
      const payload = Buffer.from(JSON.stringify(value)).toString('base64url')
      const text = `${payload}.${macOf(signing, name, tenant, payload)}`
      return put(name, text, days * DAY_SECONDS)
    },
    clear: (name) => put(name, '', 0),
    readPlain: (header, name) => find(header, fullName(name)),
    writePlain: put,
  }
}

const macOf = (key: Buffer, name: string, tenant: string, payload: string): string =>
  createHmac('sha256', key)
    .update(`${name}\n${tenant}\n${payload}`)
    .digest()
    .subarray(0, MAC_BYTES)
    .toString('base64url')

/** The encoded texts are compared: there are several spellings of the same bytes. */
function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function find(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}
