import { type Clock, machineNow } from '../../kernel/clock.ts'
import { SafeFetchError } from '../../platform/safe-address.ts'
import type { SafeFetch } from '../../platform/safe-fetch.ts'
import { type SigningKey, signedHeaders } from './envelope.ts'
import type { Attempt } from './schema.ts'

/** The contract's time limit for name lookup, connection, TLS and the headers of the response together. */
const TIMEOUT_MS = 10_000

export interface Sender {
  fetch: Pick<SafeFetch, 'send'>
  /** The store's business time, at which the attempt is recorded. Its signature has machine time. */
  clock: Clock
  timeoutMs?: number | undefined
}

export interface SignedRequest {
  url: string
  event_id: string
  event_type: string
  payload: Buffer
  /** Newest first. */
  keys: readonly SigningKey[]
  /** The number of this attempt, from 1. */
  attempt: number
  replay: boolean
}

export interface Outcome extends Omit<Attempt, 'attempt'> {
  delivered: boolean
  /** Why there was no response. Null when the endpoint responded, with any status. */
  connectionError: string | null
}

/** Sends an envelope once. Any 2xx is a success; a redirect is a failure. The body of the response is dropped. */
export async function attempt(sender: Sender, request: SignedRequest): Promise<Outcome> {
  const { fetch, clock, timeoutMs = TIMEOUT_MS } = sender
  const at = new Date(clock.now()).toISOString()
  const startedAt = performance.now()
  const headers = signedHeaders({
    eventId: request.event_id,
    eventType: request.event_type,
    body: request.payload,
    keys: request.keys,
    timestamp: Math.floor(machineNow() / 1_000),
    attempt: request.attempt,
    replay: request.replay,
  })
  try {
    const { status, latencyMs } = await fetch.send({
      url: request.url,
      method: 'POST',
      headers,
      body: request.payload,
      timeoutMs,
    })
    const delivered = status >= 200 && status < 300
    const error = delivered ? null : `HTTP ${status}`
    return {
      at,
      status_code: status,
      latency_ms: latencyMs,
      error,
      delivered,
      connectionError: null,
    }
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    const latency_ms = Math.round(performance.now() - startedAt)
    return {
      at,
      status_code: null,
      latency_ms,
      error: error.message,
      delivered: false,
      connectionError: error.message,
    }
  }
}
