import { createHmac } from 'node:crypto'

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

export interface Signing {
  eventId: string
  eventType: string
  body: Buffer
  /** The newest first. After a rotation the one before still signs for a while. */
  secrets: readonly string[]
  /** Unix seconds, of this attempt. */
  timestamp: number
  attempt: number
}

/**
 * The headers of one attempt: those of the contract, keyed with the whole secret as text, and those
 * of Standard Webhooks, keyed with the bytes behind its prefix, so that existing libraries verify.
 */
export function signedHeaders(signing: Signing): Record<string, string> {
  const { eventId, eventType, body, secrets, timestamp, attempt } = signing
  const [newest = ''] = secrets
  const v1 = secrets.map((secret) => `,v1=${signatureV1(secret, timestamp, body)}`)
  const standard = secrets.map((secret) => `v1,${standardSignature(secret, eventId, signing)}`)
  return {
    'content-type': 'application/json',
    'user-agent': 'Fairdock-Webhooks/1',
    'x-webhook-event-id': eventId,
    'x-webhook-event-type': eventType,
    'x-webhook-timestamp': String(timestamp),
    'x-webhook-signature-v1': `t=${timestamp}${v1.join('')}`,
    'x-webhook-signature': bareSignature(newest, body),
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

function standardSignature(secret: string, id: string, { timestamp, body }: Signing): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')
}
