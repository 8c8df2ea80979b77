import { digestEquals } from '../kernel/tokens.ts'
import { type EventScheme, macOf, textOf } from './provider-events.ts'

/** Signatures that several providers make: those of Stripe, and of Standard Webhooks. */

type Verifier = EventScheme['verify']

/** How much a signed time may differ in either direction, since clocks differ. */
const TOLERANCE_MS = 300_000

/** The most signatures of one request: more than a rotation of keys needs. Each costs a comparison. */
const SIGNATURES_MAX = 20

const HEX_MAC = /^[0-9a-f]{64}$/i
/** The parts are separated by commas. */
const STRIPE_PART = /^([a-z][a-z0-9]{0,9})=([\x21-\x2b\x2d-\x7e]{1,200})$/
const SECONDS = /^(0|[1-9][0-9]{0,11})$/
/** No dot: it separates the id from the time, and one text could be read in two ways. */
const STANDARD_ID = /^[\x21-\x2d\x2f-\x7e]{1,200}$/
const STANDARD_SIGNATURE = /^v[0-9a-z]{1,9},[A-Za-z0-9+/]{1,200}={0,2}$/

function isRecent(seconds: string, now: number): boolean {
  return SECONDS.test(seconds) && Math.abs(now - Number(seconds) * 1_000) <= TOLERANCE_MS
}

export const verifyStripe: Verifier = (key, { headers, raw }, now) => {
  const parts = textOf(headers, 'stripe-signature')
    .split(',', SIGNATURES_MAX + 1)
    .map((part) => STRIPE_PART.exec(part))
  if (parts.length > SIGNATURES_MAX || parts.includes(null)) return false
  const valuesOf = (name: string) =>
    parts.filter((part) => part?.[1] === name).map((part) => part?.[2] ?? '')
  const [time, ...more] = valuesOf('t')
  const macs = valuesOf('v1')
  if (time === undefined || more.length > 0 || !isRecent(time, now)) return false
  if (!macs.every((mac) => HEX_MAC.test(mac))) return false
  const ours = macOf(key, time, raw)
  return macs.filter((mac) => digestEquals(Buffer.from(mac, 'hex'), ours)).length > 0
}

export const verifyStandard: Verifier = (key, { headers, raw }, now) => {
  const id = textOf(headers, 'webhook-id')
  const time = textOf(headers, 'webhook-timestamp')
  const signatures = textOf(headers, 'webhook-signature').split(' ', SIGNATURES_MAX + 1)
  const bytes = standardKey(key)
  if (bytes === null || !STANDARD_ID.test(id) || !isRecent(time, now)) return false
  if (signatures.length > SIGNATURES_MAX) return false
  if (!signatures.every((each) => STANDARD_SIGNATURE.test(each))) return false
  // Base64 has several spellings of the same bytes. Only the canonical one is accepted.
  const ours = Buffer.from(`v1,${macOf(bytes, `${id}.${time}`, raw).toString('base64')}`)
  return signatures.filter((each) => digestEquals(Buffer.from(each), ours)).length > 0
}

/** Reads the bytes of a Standard Webhooks key, padded or not. Returns null if the key is not base64. */
export function standardKey(key: string): Buffer | null {
  const text = key.startsWith('whsec_') ? key.slice('whsec_'.length) : key
  const bytes = Buffer.from(text, 'base64')
  const padded = bytes.toString('base64')
  return text !== '' && [padded, padded.replace(/=+$/, '')].includes(text) ? bytes : null
}
