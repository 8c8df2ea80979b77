import { Agent, request } from 'undici'

/**
 * `answer`: a whole 200. `not_sent`: no connection, so nobody has heard of it. `lost`: anything
 * else; it may or may not have been acted upon. An outage is what others will meet too; a refusal
 * in HTTP is not, or one shopper's odd address would close the gateway to all. `why` is a word for
 * the log, and nothing of what was sent.
 */
export type Exchange =
  | { kind: 'answer'; body: string }
  | { kind: 'not_sent'; why: string }
  | { kind: 'lost'; why: string; isOutage: boolean }

export interface WireOptions {
  connectMs?: number
  /** From the first call to the last byte of the answer. */
  totalMs?: number
}

export interface Wire {
  /** The end of what begins now, however many calls it takes. */
  deadline(): AbortSignal
  /** Makes one call, repeats none, follows no redirect. Never throws. */
  post(path: string, fields: URLSearchParams, deadline: AbortSignal): Promise<Exchange>
  close(): Promise<void>
}

/** A page of the record at most; an answer to a charge is a few hundred bytes. */
const BODY_BYTES = 1_024 * 1_024

/** More than this many calls at once to a gateway that answers are not to be had. */
const CONNECTIONS = 100

/** To the operator's own address, so it is trusted; not to be used with what a tenant chose. */
export function openWire(baseUrl: string, options: WireOptions = {}): Wire {
  const { connectMs = 1_000, totalMs = 8_000 } = options
  const agent = new Agent({
    connect: { timeout: connectMs },
    connections: CONNECTIONS,
    headersTimeout: totalMs,
    bodyTimeout: totalMs,
    maxResponseSize: BODY_BYTES,
  })
  return {
    deadline: () => AbortSignal.timeout(totalMs),
    async post(path, fields, signal) {
      // Whoever comes too late has sent nothing.
      if (signal.aborted) return { kind: 'not_sent', why: 'too_late' }
      try {
        const { statusCode, body } = await request(`${baseUrl}${path}`, {
          method: 'POST',
          dispatcher: agent,
          signal,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: fields.toString(),
        })
        const text = await body.text()
        if (statusCode === 200) return { kind: 'answer', body: text }
        return { kind: 'lost', why: `http_${statusCode}`, isOutage: statusCode >= 500 }
      } catch (error) {
        // The error may quote what was sent, so no more of it than its name goes any further.
        const why = nameOf(error)
        return isBeforeSending(error)
          ? { kind: 'not_sent', why }
          : { kind: 'lost', why, isOutage: true }
      }
    },
    close: () => agent.destroy(),
  }
}

/** `ECONNREFUSED`, `UND_ERR_SOCKET`, `TimeoutError`. */
function nameOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const { code, name } = Object(first) as { code?: unknown; name?: unknown }
  const names = [code, name].filter((each) => typeof each === 'string' && /^\w{1,60}$/.test(each))
  return String(names[0] ?? 'unknown')
}

/** Only what can fail before there is a connection. */
function isBeforeSending(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isBeforeSending)
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo'
}
