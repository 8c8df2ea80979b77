import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import {
  EVENT_ID,
  type EventScheme,
  type EventSubject,
  isObject,
  type Json,
  type ReceivedRequest,
  readText,
} from '../../platform/provider-events.ts'

/** The id and type of an event. */
export interface EventLabel {
  event_id: string
  event_type: string | null
  /** Whether the body is a JSON object. */
  readable: boolean
}

const EVENT_TYPE = /^[\x21-\x7e]{1,100}$/

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

/** Reads id and type, after the signature was verified. An event without an id gets a digest of its bytes. */
export function parseLabel(scheme: EventScheme, { headers, raw }: ReceivedRequest): EventLabel {
  const body = readBody(raw)
  const { id, type } = scheme.label(headers, body ?? {})
  return {
    event_id: readText(id, EVENT_ID) ?? `sha256:${hash('sha256', raw)}`,
    event_type: readText(type, EVENT_TYPE),
    readable: body !== null,
  }
}

/** Reads what an event is about. */
export function parseSubject(scheme: EventScheme, body: Json): EventSubject {
  const { type } = scheme.label({}, body)
  return scheme.read(readText(type, EVENT_TYPE) ?? '', body)
}
