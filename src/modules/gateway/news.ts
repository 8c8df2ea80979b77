import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { News, Scheme } from './schema.ts'
import type { Sent } from './verify.ts'

/** What an event calls itself. */
export interface Label {
  event_id: string
  event_type: string | null
  /** False: signed, and no JSON object. */
  readable: boolean
}

type Json = Readonly<Record<string, unknown>>

/** Plain ASCII, so that no two ids become one when they are kept. */
const EVENT_ID = /^[\x20-\x7e]{1,200}$/
const EVENT_TYPE = /^[\x21-\x7e]{1,100}$/

/** A batch of disputes has dozens. Beyond this somebody means to keep us busy. */
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

/** Providers add members as they please, so all but the few that we look for is let pass. */
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

/** Read only once the signature holds. An event without an id of its own is known by its bytes. */
export function labelOf(scheme: Scheme, { headers, raw }: Sent): Label {
  const body = readBody(raw)
  const given = scheme === 'standard' ? headers : (body ?? {})
  const name = { nmi: 'event_id', stripe: 'id', standard: 'webhook-id' }[scheme]
  return {
    event_id: textAt(given, name, EVENT_ID) ?? `sha256:${hash('sha256', raw)}`,
    event_type: body === null ? null : typeOf(scheme, body),
    readable: body !== null,
  }
}

const TOPICS: Readonly<Record<Scheme, { transaction: RegExp; chargeback: RegExp }>> = {
  nmi: { transaction: /^transaction\./, chargeback: /^chargeback\./ },
  stripe: {
    transaction: /^(charge|payment_intent|refund)\./,
    chargeback: /^charge\.dispute\./,
  },
  standard: { transaction: /^transaction\./, chargeback: /^(chargeback|dispute)\./ },
}

/** Where each scheme keeps what it is about. */
const SUBJECT: Readonly<Record<Scheme, (body: Json) => Json>> = {
  nmi: (body) => objectAt(body, 'event_body'),
  stripe: (body) => objectAt(objectAt(objectAt(body, 'data'), 'object'), 'metadata'),
  standard: (body) => objectAt(body, 'data'),
}

export function newsOf(scheme: Scheme, body: Json): News {
  const type = typeOf(scheme, body) ?? ''
  const { transaction, chargeback } = TOPICS[scheme]
  const topic = chargeback.test(type)
    ? 'chargeback'
    : transaction.test(type)
      ? 'transaction'
      : 'other'
  const subject = SUBJECT[scheme](body)
  const batch = Array.isArray(subject.chargebacks) ? subject.chargebacks : []
  const refsOf = (each: unknown) =>
    isObject(each) ? (textAt(each, 'order_id', EVENT_ID) ?? []) : []
  const named = batch.slice(0, REFS_MAX).flatMap(refsOf)
  const refs = new Set([subject].flatMap(refsOf).concat(named))
  return { topic, refs: [...refs], unnamed: batch.length - named.length }
}
