import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

const keyObjects = new WeakMap<Buffer, KeyObject>()

/**
 * Returns the key object of a key, whose bytes must not change. It is made once: given bytes, Node would make another
 * for every text, which takes longer than the HMAC itself.
 */
export function keyObjectOf(key: Buffer): KeyObject {
  const made = keyObjects.get(key) ?? createSecretKey(key)
  keyObjects.set(key, made)
  return made
}

export type Message = readonly (string | Buffer)[]

/** HMAC-SHA-256 of a message in parts. The key's bytes must not change. */
export const hmac = (key: Buffer, message: Message, encoding: 'hex' | 'base64'): string =>
  hmacOf(key, message).digest(encoding)

/** Computes the HMAC like `hmac`, as bytes. */
export const hmacBytes = (key: Buffer, message: Message): Buffer => hmacOf(key, message).digest()

const derived = new WeakMap<Buffer, Map<string, Buffer>>()

/** Derives a key for one purpose from another key: a hash under one is useless under the other. */
export function subkey(key: Buffer, purpose: string): Buffer {
  const subkeys = derived.get(key) ?? new Map<string, Buffer>()
  derived.set(key, subkeys)
  const made = subkeys.get(purpose) ?? hmacBytes(key, [purpose])
  subkeys.set(purpose, made)
  return made
}

function hmacOf(key: Buffer, message: Message) {
  const made = createHmac('sha256', keyObjectOf(key))
  for (const part of message) made.update(part)
  return made
}
