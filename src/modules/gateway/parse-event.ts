import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { EventSubject, Scheme } from './schema.ts'
import type { ReceivedRequest } from './verify.ts'

/** The id and type of an event. */
export interface EventLabel {
  event_id: string
  event_type: string | null
  /** Whether the body is a JSON object. */
  readable: boolean
}

type Json = Readonly<Record<string, unknown>>

/** The ids that are accepted: plain ASCII, so that no two ids become equal when they are stored. */
const EVENT_ID = /^[\x20-\x7e]{1,200}$/
const EVENT_TYPE = /^[\x21-\x7e]{1,100}$/

/** The most references that are read from one event. A batch of disputes has dozens of entries; more is an attack. */
const REFS_MAX = 500

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const objectAt = (value: unknown, name: string): Json => {
  const inner = isObject(value) ? value[name] : undefined
  return isObject(inner) ? inner : {}
}

const textAt = (value: Json, name: string, form: RegExp): string | null => {
  const inner = value[name]
  const text = Number.isSafeInteger(inner) ? String(inner) : inner
  return typeof text === 'string' && form.test(text) ? text : null
}

/** Parses the body. Providers add members at any time, so unknown ones are ignored. */
export function readBody(raw: Buffer): Json | null {
  if (!isUtf8(raw)) return null
  try {
    const value: unknown = JSON.parse(raw.toString('utf8'))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

const typeOf = (scheme: Scheme, body: Json) =>
  textAt(body, scheme === 'nmi' ? 'event_type' : 'type', EVENT_TYPE)

/** Reads id and type, after the signature was verified. An event without an id gets a digest of its bytes. */
export function parseLabel(scheme: Scheme, { headers, raw }: ReceivedRequest): EventLabel {
  const body = readBody(raw)
  const given = scheme === 'standard' ? headers : (body ?? {})
  const name = { nmi: 'event_id', stripe: 'id', standard: 'webhook-id' }[scheme]
  return {
    event_id: textAt(given, name, EVENT_ID) ?? `sha256:${hash('sha256', raw)}`,
    event_type: body === null ? null : typeOf(scheme, body),
    readable: body !== null,
  }
}

const TOPICS: Readonly<Record<Scheme, { transaction: RegExp; dispute: RegExp }>> = {
  nmi: { transaction: /^transaction\./, dispute: /^chargeback\./ },
  stripe: {
    transaction: /^(charge|payment_intent|refund)\./,
    dispute: /^charge\.dispute\./,
  },
  standard: { transaction: /^transaction\./, dispute: /^(chargeback|dispute)\./ },
}

/** Where each scheme has the transaction or dispute. */
const SUBJECT: Readonly<Record<Scheme, (body: Json) => Json>> = {
  nmi: (body) => objectAt(body, 'event_body'),
  stripe: (body) => objectAt(objectAt(objectAt(body, 'data'), 'object'), 'metadata'),
  standard: (body) => objectAt(body, 'data'),
}

/** Reads what an event is about. */
export function parseSubject(scheme: Scheme, body: Json): EventSubject {
  const type = typeOf(scheme, body) ?? ''
  const { transaction, dispute } = TOPICS[scheme]
  const topic = dispute.test(type) ? 'dispute' : transaction.test(type) ? 'transaction' : 'other'
  const subject = SUBJECT[scheme](body)
  const batch = Array.isArray(subject.chargebacks) ? subject.chargebacks : []
  const refsOf = (each: unknown) =>
    isObject(each) ? (textAt(each, 'order_id', EVENT_ID) ?? []) : []
  const named = batch.slice(0, REFS_MAX).flatMap(refsOf)
  const refs = new Set([subject].flatMap(refsOf).concat(named))
  return { topic, refs: [...refs], unnamed: batch.length - named.length }
}
