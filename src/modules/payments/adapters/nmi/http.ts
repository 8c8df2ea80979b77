import { Agent, request } from 'undici'

/**
 * How a call ended. `answer`: a complete 200. `not_sent`: there was no connection, so NMI did not get the call.
 * `lost`: anything else; NMI may or may not have acted on it. `isOutage`: other calls will fail, too. A 4xx is no
 * outage: otherwise one shopper's unusual address would close the gateway to all. `why` is a word for the log,
 * with nothing of the request.
 */
export type Exchange =
  | { kind: 'answer'; body: string }
  | { kind: 'not_sent'; why: string }
  | { kind: 'lost'; why: string; isOutage: boolean }

export interface NmiHttpOptions {
  connectMs?: number
  /** From the start of a task to the last byte of its last answer. */
  totalMs?: number
}

export interface NmiHttp {
  /** The deadline of a task that begins now. All its calls share it. */
  deadline(): AbortSignal
  /** Makes one call, repeats none, follows no redirect. Never throws. */
  post(path: string, fields: URLSearchParams, deadline: AbortSignal): Promise<Exchange>
  close(): Promise<void>
}

/** The largest body that is read: a page of the record. The response to a charge has a few hundred bytes. */
const BODY_BYTES = 1_024 * 1_024

/** The most connections: enough for all calls of one process to a gateway that answers. */
const CONNECTIONS = 100

/**
 * The HTTP client for NMI. It trusts its address, which the operator configures, and must not be
 * used with an address that a store chose.
 */
export function openNmiHttp(baseUrl: string, options: NmiHttpOptions = {}): NmiHttp {
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
      // The deadline has passed already, so nothing is sent.
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
        // The error may quote the request, so that only its name is passed on.
        const why = nameOf(error)
        return isBeforeSending(error)
          ? { kind: 'not_sent', why }
          : { kind: 'lost', why, isOutage: true }
      }
    },
    close: () => agent.destroy(),
  }
}

/** The name of an error: `ECONNREFUSED`, `UND_ERR_SOCKET`, `TimeoutError`. */
function nameOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const { code, name } = Object(first) as { code?: unknown; name?: unknown }
  const names = [code, name].filter((each) => typeof each === 'string' && /^\w{1,60}$/.test(each))
  return String(names[0] ?? 'unknown')
}

/** Whether an error occurred before there was a connection. */
function isBeforeSending(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isBeforeSending)
  if (!(error instanceof Error)) return false
  const { code, syscall } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo'
}
