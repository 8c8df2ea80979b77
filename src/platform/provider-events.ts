import { hmacBytes } from '../kernel/hmac.ts'

/** Events that providers send and sign: how an adapter reads the events of its provider. */

export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A request before its signature is verified. */
export interface ReceivedRequest {
  headers: Headers
  /** The exact bytes of the body. */
  raw: Buffer
}

export type Json = Readonly<Record<string, unknown>>

/** How a provider signs and writes its events. */
export interface EventScheme {
  /** Whether the key has signed exactly these bytes, and recently if the scheme signs a time. */
  verify(key: string, request: ReceivedRequest, now: number): boolean
  /** Where an event has its id and its type. Their form is not checked here. */
  label(headers: Headers, body: Json): { id: unknown; type: unknown }
  /** Reads the subject of an event, by its type. */
  read(type: string, body: Json): EventSubject
}

/** The subject of an event. It says what to look up; only the lookup says what happened. */
export type EventSubject = PaymentSubject | UpdatedCards | { topic: 'other' }

export interface PaymentSubject {
  topic: 'transaction' | 'dispute'
  /** Our references at the gateway, as far as the event has them. */
  refs: string[]
  /** The number of entries of a batch without our reference. */
  unnamed: number
}

/** New facts of stored cards. */
export interface UpdatedCards {
  topic: 'cards'
  cards: {
    vault_id: string
    brand: string | null
    last4: string | null
    exp_month: number | null
    exp_year: number | null
  }[]
  /** Whether the accounts of the cards were closed. */
  isClosed: boolean
}

/** The ids that are accepted: plain ASCII, so that no two ids become equal when they are stored. */
export const EVENT_ID = /^[\x20-\x7e]{1,200}$/

/** The most references that are read from one event. A batch of disputes has dozens of entries; more is an attack. */
const REFS_MAX = 500

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectAt = (value: unknown, name: string): Json => {
  const inner = isObject(value) ? value[name] : undefined
  return isObject(inner) ? inner : {}
}

/** Returns a text or a whole number that has the form; null for anything else. */
export const readText = (value: unknown, form: RegExp): string | null => {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && form.test(text) ? text : null
}

/** A header; empty if it is missing or was sent several times. */
export const textOf = (headers: Headers, name: string): string => {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

/** The HMAC-SHA256 of `head.body`. */
export const macOf = (key: string | Buffer, head: string, raw: Buffer): Buffer =>
  hmacBytes(typeof key === 'string' ? Buffer.from(key) : key, [`${head}.`, raw])

/** Reads an event about a payment, whose subject has our reference as `order_id`, or a batch of disputes. */
export function paymentSubject(
  type: string,
  { transaction, dispute }: { transaction: RegExp; dispute: RegExp },
  subject: Json,
): EventSubject {
  const topic = dispute.test(type) ? 'dispute' : transaction.test(type) ? 'transaction' : 'other'
  if (topic === 'other') return { topic }
  const batch = Array.isArray(subject.chargebacks) ? subject.chargebacks : []
  const refsOf = (each: unknown) =>
    isObject(each) ? (readText(each.order_id, EVENT_ID) ?? []) : []
  const named = batch.slice(0, REFS_MAX).flatMap(refsOf)
  const refs = new Set([subject].flatMap(refsOf).concat(named))
  return { topic, refs: [...refs], unnamed: batch.length - named.length }
}
