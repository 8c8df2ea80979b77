import {
  createCipheriv,
  createDecipheriv,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { hmacBytes } from './hmac.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The largest multiple of 62 in a byte. Bytes from here on would favour the first letters. */
const UNBIASED = 248

/** As hard to guess as so many random bytes. 32 bytes give 43 characters. */
export function randomBase62(bytes: number): string {
  const length = Math.ceil((bytes * 8) / Math.log2(62))
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < UNBIASED) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}

export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

/** Takes the same time wherever the two differ. */
export const digestEquals = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && timingSafeEqual(a, b)

/** A key for each purpose (HKDF-SHA256), so that what is made for one is worth nothing to another. */
export function deriveKey(secret: string, purpose: string): Buffer {
  if (secret === '' || purpose === '') throw new Error('a key needs a secret and a purpose')
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}

const CIPHER = 'aes-256-gcm'
/** The first byte of a sealed text, so that the cipher can be changed while old texts still open. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES

/**
 * Encrypts with AES-256-GCM: version, nonce, ciphertext, tag. The text opens only with the same
 * context, so that a sealed column cannot be moved to another row. The nonce is random: a key is
 * good for 2^32 texts.
 */
export function seal(key: Buffer, plaintext: Buffer | string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  const text = cipher.update(typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext)
  return Buffer.concat([Buffer.of(VERSION), nonce, text, cipher.final(), cipher.getAuthTag()])
}

/** Throws when key, context or any byte differs from what was sealed. */
export function open(key: Buffer, sealed: Buffer, context: string): Buffer {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== VERSION) {
    throw new Error('this is not a sealed text')
  }
  const nonce = sealed.subarray(1, HEAD_BYTES)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES))
  return Buffer.concat([text, decipher.final()])
}

const MAC_BYTES = 32

/** A token that carries its payload in the open, and proves that we made it. */
export function sign(key: Buffer, payload: Buffer): string {
  return Buffer.concat([payload, hmacBytes(key, [payload])]).toString('base64url')
}

/**
 * The payload, or null. Node decodes base64 leniently (padding, spaces, stray bits of the last
 * letter), so what is compared is the text, with the only spelling that we would have given it.
 */
export function verify(key: Buffer, token: string): Buffer | null {
  const raw = Buffer.from(token, 'base64url')
  const payload = raw.subarray(0, -MAC_BYTES)
  return digestEquals(Buffer.from(sign(key, payload)), Buffer.from(token)) ? payload : null
}
