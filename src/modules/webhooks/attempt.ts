import { type Clock, machineNow } from '../../kernel/clock.ts'
import { SafeFetchError } from '../../platform/safe-address.ts'
import type { SafeFetch } from '../../platform/safe-fetch.ts'
import { type SigningKey, signedHeaders } from './envelope.ts'
import type { Attempt } from './schema.ts'

/** The contract's limit, over name lookup, connection, TLS and the headers of the answer. */
const TIMEOUT_MS = 10_000

export interface Sender {
  fetch: Pick<SafeFetch, 'send'>
  /** The store's, by which the attempt is written down. It is signed by the machine's time. */
  clock: Clock
  timeoutMs?: number | undefined
}

export interface Sending {
  url: string
  event_id: string
  event_type: string
  payload: Buffer
  /** The newest first. */
  keys: readonly SigningKey[]
  /** The number of this attempt, from 1. */
  attempt: number
}

export interface Outcome extends Omit<Attempt, 'attempt'> {
  delivered: boolean
  /** Why no answer came. Null when one did, whatever it said. */
  connectionError: string | null
}

/** Sends an envelope once. Any 2xx is a success; a redirect is none. What it said is dropped. */
export async function attempt(sender: Sender, sending: Sending): Promise<Outcome> {
  const { fetch, clock, timeoutMs = TIMEOUT_MS } = sender
  const at = new Date(clock.now()).toISOString()
  const startedAt = performance.now()
  const headers = signedHeaders({
    eventId: sending.event_id,
    eventType: sending.event_type,
    body: sending.payload,
    keys: sending.keys,
    timestamp: Math.floor(machineNow() / 1_000),
    attempt: sending.attempt,
  })
  try {
    const { status, latencyMs } = await fetch.send({
      url: sending.url,
      method: 'POST',
      headers,
      body: sending.payload,
      timeoutMs,
    })
    const delivered = status >= 200 && status < 300
    const error = delivered ? null : `HTTP ${status}`
    const told = { at, status_code: status, latency_ms: latencyMs, error }
    return { ...told, delivered, connectionError: null }
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    const latency_ms = Math.round(performance.now() - startedAt)
    const told = { at, status_code: null, latency_ms, error: error.message }
    return { ...told, delivered: false, connectionError: error.message }
  }
}
