import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/**
 * Reads and writes signed cookies. A shopper can read the value but not change it. The signature
 * covers the cookie's name and the store, so that one cookie cannot be sent in the place of
 * another. Encrypted cookies can also not be read.
 */
export interface Cookies {
  /** Reads a signed cookie. Returns null for one that is missing or was not signed by us. */
  read(header: string | undefined, name: string, tenant: string): unknown
  /** Returns the value of a `set-cookie` header, as do `clear` and `writePlain`. */
  write(name: string, tenant: string, value: unknown, days: number): string
  clear(name: string): string
  /** Reads an encrypted cookie. Returns null for one that is missing, or not encrypted for this name and store. */
  readEncrypted(header: string | undefined, name: string, tenant: string): unknown
  /** Writes a value that other users of the device must not read. Returns null for one that is too long. */
  writeEncrypted(name: string, tenant: string, value: unknown, days: number): string | null
  /** Reads a cookie without a signature, for values that the platform verifies itself. */
  readPlain(header: string | undefined, name: string): string | undefined
  writePlain(name: string, value: string, seconds: number): string
}

const MAC_BYTES = 24
/**
 * The cookies of recent requests, whose signature need not be computed again; each has at most 4
 * KB.
 */
const VERIFIED_MAX = 4_096
const DAY_SECONDS = 86_400

/**
 * Opens cookies that are signed with these secrets. The first one signs; all of them are accepted, so
 * that a token can be replaced without losing carts.
 */
export function openCookies(secrets: readonly string[], secure: boolean): Cookies {
  const keys = secrets.map((each) => Buffer.from(hkdfSync('sha256', each, '', 'shop cookies', 32)))
  const [signing] = keys
  if (signing === undefined) throw new Error('cookies need a secret')
  const cipherKeys = secrets.map((each) =>
    Buffer.from(hkdfSync('sha256', each, '', 'shop cookie encryption', 32)),
  )
  const fullName = (name: string) => `${secure ? '__Host-' : ''}fd_${name}`
  const flags = `; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const setCookie = (name: string, value: string, seconds: number) =>
    `${fullName(name)}=${value}; Max-Age=${seconds}${flags}`

  const verified = new Map<string, unknown>()

  /** Verifies a signed text. The result of an earlier verification comes from memory: the keys do not change. */
  function verify(name: string, tenant: string, text: string): unknown {
    const place = `${name} ${tenant} ${text}`
    const known = verified.get(place)
    if (known !== undefined) return known
    const [payload, mac] = text.split('.')
    if (!payload || !mac) return null
    const isSigned = keys.some((key) => isEqual(mac, signatureOf(key, name, tenant, payload)))
    if (!isSigned) return null
    const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const [oldest] = verified.keys()
    if (verified.size >= VERIFIED_MAX && oldest !== undefined) verified.delete(oldest)
    verified.set(place, value)
    return value
  }

  return {
    read(header, name, tenant) {
      const text = findCookie(header, fullName(name))
      return text === undefined ? null : verify(name, tenant, text)
    },
    write(name, tenant, value, days) {
      const payload = Buffer.from(JSON.stringify(value)).toString('base64url')
      const text = `${payload}.${signatureOf(signing, name, tenant, payload)}`
      return setCookie(name, text, days * DAY_SECONDS)
    },
    readEncrypted(header, name, tenant) {
      const text = findCookie(header, fullName(name))
      if (text === undefined) return null
      for (const key of cipherKeys) {
        const opened = decrypt(key, text, `${name}\n${tenant}`)
        if (opened !== null) return JSON.parse(opened)
      }
      return null
    },
    writeEncrypted(name, tenant, value, days) {
      const [key] = cipherKeys
      const text = JSON.stringify(value)
      if (key === undefined || Buffer.byteLength(text) > ENCRYPTED_BYTES_MAX) return null
      return setCookie(name, encrypt(key, text, `${name}\n${tenant}`), days * DAY_SECONDS)
    },
    clear: (name) => setCookie(name, '', 0),
    readPlain: (header, name) => findCookie(header, fullName(name)),
    writePlain: setCookie,
  }
}

/** A cookie has at most 4 KB, and base64 makes four characters of three bytes. */
const ENCRYPTED_BYTES_MAX = 2_800
const IV_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'

/** Encrypts a text. `place` is the cookie's name and store: it can be decrypted in its own place alone. */
function encrypt(key: Buffer, text: string, place: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(place))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url')
}

function decrypt(key: Buffer, text: string, place: string): string | null {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length <= IV_BYTES + TAG_BYTES) return null
  const iv = bytes.subarray(0, IV_BYTES)
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  const encrypted = bytes.subarray(IV_BYTES + TAG_BYTES)
  try {
    return decipher.update(encrypted).toString('utf8') + decipher.final('utf8')
  } catch {
    return null
  }
}

const signatureOf = (key: Buffer, name: string, tenant: string, payload: string): string =>
  createHmac('sha256', key)
    .update(`${name}\n${tenant}\n${payload}`)
    .digest()
    .subarray(0, MAC_BYTES)
    .toString('base64url')

/** Compares the encoded texts, because several base64 texts decode to the same bytes. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

function findCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}
