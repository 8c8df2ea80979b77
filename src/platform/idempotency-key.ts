import { ApiError } from '../errors.ts'
import { canonicalJson } from '../kernel/canonical-json.ts'
import { hmac, hmacBytes, subkey } from '../kernel/hmac.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** Whether a caller can have sent this key. Operations of the system have keys that no caller can send. */
export const isCallersKey = (key: string): boolean => KEY.test(key)

/**
 * The beginning of the keys that renewals make for themselves. A caller with such a key could store an answer for a
 * renewal.
 */
const RESERVED = 'sub:'

interface ReadKeyOptions {
  /** Only for looking a key up, never for claiming one. */
  allowReserved?: boolean
}

/** Reads the Idempotency-Key of a request. Refuses a request without one, or with a malformed one. */
export function readKey(
  header: string | string[] | undefined,
  { allowReserved = false }: ReadKeyOptions = {},
): string {
  if (header === undefined) throw new ApiError('idempotency_key_required')
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw new ApiError('idempotency_key_invalid')
  }
  if (!allowReserved && header.startsWith(RESERVED)) {
    throw new ApiError('idempotency_key_invalid', {
      message: `An Idempotency-Key must not begin with ${RESERVED}, which is reserved. Send another key.`,
    })
  }
  return header
}

/**
 * Computes what distinguishes two requests with the same key: a keyed hash of the canonical body.
 *
 * A retry may come from another address and without the code on the card, and may space the card number differently:
 * `ip` and `card.cvv` are left out, `card.ccnumber` counts by its digits. A form has a new quote, and a new time at
 * which a statement was accepted, each time it is shown: these are left out as well, since they do not make another
 * purchase. It must not be a plain hash, because there are few enough card numbers to try them all.
 *
 * `target` is the part of the path that belongs to the request, e.g. the id of the order to refund.
 */
export function fingerprint(secret: Buffer, body: unknown, target?: string): Buffer {
  // Canonical JSON contains no raw line feed, so the two parts cannot be taken for one.
  const text = canonicalJson(withoutVolatile(secret, body ?? null))
  return hmacBytes(secret, target === undefined ? [text] : [text, '\n', target])
}

function withoutVolatile(secret: Buffer, body: unknown): unknown {
  if (!isObject(body)) return body
  const { ip, quote_token, ...kept } = body
  if (isObject(kept.card)) kept.card = withoutSecrets(secret, kept.card)
  if (isObject(kept.attestation)) {
    const { accepted_at, ...attestation } = kept.attestation
    kept.attestation = attestation
  }
  return kept
}

function withoutSecrets(secret: Buffer, card: Record<string, unknown>) {
  const { cvv, ...kept } = card
  const { ccnumber } = kept
  if (typeof ccnumber !== 'string' && typeof ccnumber !== 'number') return kept
  const digits = String(ccnumber).replace(/\D/g, '')
  return { ...kept, ccnumber: hmac(subkey(secret, 'card number'), [digits], 'hex') }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
