import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

export interface Envelope {
  id: string
  type: string
  tenant_ref: string
  created_at: string
}

/** The bytes of an envelope, made once. `data` is the text of a JSON object, kept as it was written. */
export function writeEnvelope(head: Envelope, data: string): Buffer {
  const { id, type, tenant_ref, created_at } = head
  const start = JSON.stringify({ id, type, tenant_ref, created_at }).slice(0, -1)
  return Buffer.from(`${start},"data":${data}}`)
}

/** Adds the event's number to the text of its data. */
export function addSequence(data: string, sequence: number): string {
  return `${data.slice(0, -1)}${data === '{}' ? '' : ','}"sequence":${sequence}}`
}

/** A secret in the two forms that sign. Made once for many: reading bytes as a key takes longer than signing. */
export interface SigningKey {
  /** The contract's: the whole text. */
  text: string
  /** That of Standard Webhooks: the bytes behind the prefix. */
  bytes: KeyObject
}

export const signingKey = (secret: string): SigningKey => ({
  text: secret,
  bytes: createSecretKey(secret.replace(/^whsec_/, ''), 'base64'),
})

export interface Signing {
  eventId: string
  eventType: string
  body: Buffer
  /** The newest first. After a rotation the one before still signs for a while. */
  keys: readonly SigningKey[]
  /** Unix seconds, of this attempt. */
  timestamp: number
  attempt: number
}

/** The headers of one attempt: the contract's, and those of Standard Webhooks for existing libraries. */
export function signedHeaders(signing: Signing): Record<string, string> {
  const { eventId, eventType, body, keys, timestamp, attempt } = signing
  const v1 = keys.map(({ text }) => `,v1=${signatureV1(text, timestamp, body)}`)
  const standard = keys.map(({ bytes }) => `v1,${standardSignature(bytes, signing)}`)
  return {
    'content-type': 'application/json',
    'user-agent': 'Fairdock-Webhooks/1',
    'x-webhook-event-id': eventId,
    'x-webhook-event-type': eventType,
    'x-webhook-timestamp': String(timestamp),
    'x-webhook-signature-v1': `t=${timestamp}${v1.join('')}`,
    'x-webhook-signature': bareSignature(keys[0]?.text ?? '', body),
    'x-webhook-delivery-attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
  }
}

export const signatureV1 = (secret: string, timestamp: number, body: Buffer): string =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')

/** Without a time, and so open to replay. Still sent for receivers that have not moved on. */
export const bareSignature = (secret: string, body: Buffer): string =>
  createHmac('sha256', secret).update(body).digest('hex')

function standardSignature(key: KeyObject, { eventId, timestamp, body }: Signing): string {
  return createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body).digest('base64')
}
