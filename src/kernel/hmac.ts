import { hash } from 'node:crypto'

/** The block and digest lengths of SHA-256, in bytes. */
const BLOCK = 64
const DIGEST = 32

/** The buffer that all messages share. Longer ones get memory of their own. */
const SCRATCH_BYTES = 65_536
const scratch = Buffer.alloc(SCRATCH_BYTES)

/** What is computed from a key once, and cached as long as the key exists. */
interface Prepared {
  /** The padded key that precedes the message. */
  inner: Buffer
  /** The padded key that precedes the inner hash. */
  outer: Buffer
  subkeys: Map<string, Buffer>
}

const known = new WeakMap<Buffer, Prepared>()

function prepare(key: Buffer): Prepared {
  const made = known.get(key)
  if (made !== undefined) return made
  const block = Buffer.alloc(BLOCK)
  const short = key.length > BLOCK ? hash('sha256', key, 'buffer') : key
  short.copy(block)
  const padOf = (mask: number) => Buffer.from(block.map((byte) => byte ^ mask))
  const prepared = { inner: padOf(0x36), outer: padOf(0x5c), subkeys: new Map() }
  known.set(key, prepared)
  return prepared
}

export type Message = readonly (string | Buffer)[]

/**
 * HMAC-SHA-256 of a message in parts. The key's bytes must not change.
 *
 * It is computed by its definition (RFC 2104), as two hashes, because Node's own spends most of its
 * time on setting up. For an event of 1.5 KB that takes 29 us with the bytes of a key, 4.4 us with
 * a key object, and this 3.3 us.
 */
export function hmac(key: Buffer, message: Message, encoding: 'hex' | 'base64'): string {
  return hash('sha256', outerText(key, message), encoding)
}

/** Computes the HMAC like `hmac`, as bytes. */
export const hmacBytes = (key: Buffer, message: Message): Buffer =>
  Buffer.from(hmac(key, message, 'hex'), 'hex')

/** Derives a key for one purpose from another key: a hash under one is useless under the other. */
export function subkey(key: Buffer, purpose: string): Buffer {
  const { subkeys } = prepare(key)
  const made = subkeys.get(purpose) ?? hmacBytes(key, [purpose])
  subkeys.set(purpose, made)
  return made
}

function outerText(key: Buffer, message: Message): Buffer {
  const { inner, outer } = prepare(key)
  const length = message.reduce((sum, part) => sum + Buffer.byteLength(part), BLOCK)
  const text = length > SCRATCH_BYTES ? Buffer.alloc(length) : scratch
  let end = inner.copy(text)
  for (const part of message) {
    end += typeof part === 'string' ? text.write(part, end) : part.copy(text, end)
  }
  const digest = hash('sha256', text.subarray(0, end), 'binary')
  // Some messages are card numbers, which must not stay in memory after the call.
  text.fill(0, 0, end)
  const start = outer.copy(scratch)
  scratch.write(digest, start, 'latin1')
  return scratch.subarray(0, BLOCK + DIGEST)
}
