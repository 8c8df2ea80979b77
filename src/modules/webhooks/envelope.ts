import { hmac } from '../../kernel/hmac.ts'

export interface Envelope {
  id: string
  type: string
  tenant_ref: string
  created_at: string
}

/** Writes the bytes of an envelope. `data` is the text of a JSON object and stays as it is. */
export function writeEnvelope(head: Envelope, data: string): Buffer {
  const { id, type, tenant_ref, created_at } = head
  const start = JSON.stringify({ id, type, tenant_ref, created_at }).slice(0, -1)
  return Buffer.from(`${start},"data":${data}}`)
}

/** Appends the event's number to the JSON text of its data. */
export function addSequence(data: string, sequence: number): string {
  return `${data.slice(0, -1)}${data === '{}' ? '' : ','}"sequence":${sequence}}`
}

/** A signing secret in the two forms that the signatures use. */
export interface SigningKey {
  /** For the contract's signatures: the whole text. */
  text: Buffer
  /** For Standard Webhooks: the bytes behind the prefix. */
  bytes: Buffer
}

export const signingKey = (secret: string): SigningKey => ({
  text: Buffer.from(secret),
  bytes: Buffer.from(secret.replace(/^whsec_/, ''), 'base64'),
})

export interface Signing {
  eventId: string
  eventType: string
  body: Buffer
  /** Newest first. After a rotation the previous secret signs too, for a day. */
  keys: readonly SigningKey[]
  /** The time of this attempt in Unix seconds. */
  timestamp: number
  attempt: number
  /** Whether the merchant asked to send the event again. */
  replay?: boolean
}

/** The headers of one attempt: the contract's, and those that libraries for Standard Webhooks check. */
export function signedHeaders(signing: Signing): Record<string, string> {
  const { eventId, eventType, body, keys, timestamp, attempt, replay = false } = signing
  const v1 = keys.map((key) => `,v1=${signatureV1(key, timestamp, body)}`)
  const bare = keys.slice(0, 1).map((key) => bareSignature(key, body))
  const standard = keys.map((key) => `v1,${standardSignature(key, signing)}`)
  return {
    'content-type': 'application/json',
    'user-agent': 'Fairdock-Webhooks/1',
    'x-webhook-event-id': eventId,
    'x-webhook-event-type': eventType,
    'x-webhook-timestamp': String(timestamp),
    'x-webhook-signature-v1': `t=${timestamp}${v1.join('')}`,
    'x-webhook-signature': bare.join(''),
    'x-webhook-delivery-attempt': String(attempt),
    ...(replay && { 'x-webhook-replay': 'true' }),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  }
}

export const signatureV1 = ({ text }: SigningKey, timestamp: number, body: Buffer): string =>
  hmac(text, [`${timestamp}.`, body], 'hex')

/** The signature of the body alone. It can be replayed; it is sent for receivers that check no other. */
export const bareSignature = ({ text }: SigningKey, body: Buffer): string =>
  hmac(text, [body], 'hex')

const standardSignature = ({ bytes }: SigningKey, { eventId, timestamp, body }: Signing): string =>
  hmac(bytes, [`${eventId}.${timestamp}.`, body], 'base64')
