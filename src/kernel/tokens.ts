import {
  createCipheriv,
  createDecipheriv,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { hmacBytes, keyObjectOf } from './hmac.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The largest multiple of 62 that fits in a byte. Bytes from here on are skipped: they would make the
 * first letters more likely.
 */
const UNBIASED = 248

/**
 * A random text of letters and digits, as hard to guess as that many random bytes: 32 bytes give 43
 * characters.
 */
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

/** Compares in constant time: it takes equally long wherever the two differ. */
export const digestEquals = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && timingSafeEqual(a, b)

/**
 * Derives the key for one purpose from a secret (HKDF-SHA256), so that a token or a ciphertext made for
 * one purpose is worthless for another.
 */
export function deriveKey(secret: string, purpose: string): Buffer {
  if (secret === '' || purpose === '') throw new Error('a key needs a secret and a purpose')
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32))
}

const CIPHER = 'aes-256-gcm'
/** The first byte of an encrypted text. A new cipher gets a new number, and old texts stay readable. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES

/**
 * Encrypts with AES-256-GCM: version, nonce, ciphertext, tag. Decrypting needs the same context, so
 * that an encrypted column cannot be copied to another row. The nonce is random: a key is good for 2^32
 * texts. The bytes of a key must not change.
 */
export function encryptText(key: Buffer, plaintext: Buffer | string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, keyObjectOf(key), nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  const text = cipher.update(typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext)
  return Buffer.concat([Buffer.of(VERSION), nonce, text, cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a text of `encryptText`. Throws when the key, the context or any byte differs from the original. */
export function decryptText(key: Buffer, encrypted: Buffer, context: string): Buffer {
  if (encrypted.length < HEAD_BYTES + TAG_BYTES || encrypted[0] !== VERSION) {
    throw new Error('this is not an encrypted text')
  }
  const nonce = encrypted.subarray(1, HEAD_BYTES)
  const decipher = createDecipheriv(CIPHER, keyObjectOf(key), nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context))
  decipher.setAuthTag(encrypted.subarray(-TAG_BYTES))
  const text = decipher.update(encrypted.subarray(HEAD_BYTES, -TAG_BYTES))
  return Buffer.concat([text, decipher.final()])
}

const MAC_BYTES = 32

/** Makes a token that carries its payload readable, and proves by an HMAC that we made it. */
export function sign(key: Buffer, payload: Buffer): string {
  return Buffer.concat([payload, hmacBytes(key, [payload])]).toString('base64url')
}

/**
 * Returns the payload of a token that we signed, and null for any other text. Node decodes base64 leniently (padding,
 * spaces, stray bits of the last letter), so the whole text is compared with the one spelling that `sign` gives it.
 */
export function verify(key: Buffer, token: string): Buffer | null {
  const raw = Buffer.from(token, 'base64url')
  const payload = raw.subarray(0, -MAC_BYTES)
  return digestEquals(Buffer.from(sign(key, payload)), Buffer.from(token)) ? payload : null
}
