import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { SafeFetchError } from './safe-address.ts'
import type { Deadline } from './safe-socket.ts'

/** How many bytes of a body are read: enough to show a merchant what the endpoint responded, and for a JSON key set. */
const BODY_BYTES = 64 * 1_024

/** How long the body may still arrive after the headers. */
const BODY_MS = 1_000

const EMPTY = Buffer.alloc(0)

const HEADER_BYTES = 16 * 1_024

/** How long one connection is used at most, so that a changed certificate or route is noticed. */
const OPEN_MS = 30_000

export interface SafeRequest {
  url: string
  method: Dispatcher.HttpMethod
  headers: Record<string, string>
  body?: Buffer
  timeoutMs?: number
}

export interface SafeResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The time from the call to the end of the response headers. */
  latencyMs: number
  /** The first 64 KiB at most. */
  body: Buffer
  /** Whether `body` is the whole body. */
  complete: boolean
}

/** One request, its deadline and how to send it. */
export interface Call {
  path: string
  request: SafeRequest
  deadline: Deadline
  startedAt: number
  /** Asks the server to close the connection after its response. */
  last: boolean
}

/** A connection to an address that was checked. It carries one request at a time. */
export interface Connection {
  /** Whether the connection is open and leads to one of the addresses that may be called for this origin now. */
  canServe(origin: string, addresses: readonly string[]): boolean
  send(call: Call): Promise<SafeResponse>
  close(): void
}

/**
 * The reason for ending a client. It is made once: an error with its stack for each attempt costs a tenth of the
 * attempt.
 */
const ENDED = new Error('the exchange is over')

/**
 * Opens an HTTP client over a checked socket: `stream` runs over `socket`, which was connected to
 * `address`.
 */
export function openConnection(
  origin: string,
  address: string,
  { stream, socket }: { stream: Socket; socket: Socket },
): Connection {
  const openedAt = performance.now()
  const client = new Client(origin, {
    connect: giveSocketOnce(stream),
    allowH2: false,
    maxHeaderSize: HEADER_BYTES,
    // These two limits restart with every byte and so limit nothing; the deadline does.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const close = () => {
    client.destroy(ENDED, () => {})
    socket.destroy()
  }
  return {
    canServe(target, addresses) {
      const fresh = performance.now() - openedAt < OPEN_MS
      return fresh && !stream.destroyed && target === origin && addresses.includes(address)
    },
    send(call) {
      const { deadline } = call
      if (deadline.passed) return Promise.reject(ENDED)
      // No other call uses this deadline: it is cleared once the response is there.
      deadline.onPassed = close
      return dispatchCall(client, call)
    },
    close,
  }
}

/** Makes a connector that gives the client the checked socket once, and no socket after that. */
function giveSocketOnce(stream: Socket): buildConnector.connector {
  let given = false
  return (_options, callback) => {
    const gone = given || stream.destroyed
    given = true
    // Deferred, because the client does not see a socket that arrives while it is still connecting.
    queueMicrotask(() =>
      gone ? callback(new SafeFetchError('connect'), null) : callback(null, stream),
    )
  }
}

/** Sends one request. It has succeeded once the response headers are there, so nothing after them is a failure. */
function dispatchCall(
  client: Client,
  { path, request, startedAt, last }: Call,
): Promise<SafeResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let head: Pick<SafeResponse, 'status' | 'headers' | 'latencyMs'> | null = null
    let timer: NodeJS.Timeout | undefined
    let ended = false
    const end = (complete: boolean, error?: Error) => {
      ended = true
      clearTimeout(timer)
      if (head === null) return reject(error ?? new SafeFetchError('protocol'))
      const body = bytes === 0 ? EMPTY : Buffer.concat(chunks).subarray(0, BODY_BYTES)
      const { status, headers: given, latencyMs } = head
      resolve({ status, headers: given, latencyMs, body, complete })
    }
    const { method, headers, body = null } = request
    client.dispatch(
      { path, method, headers, body, reset: last },
      {
        onRequestStart() {},
        onResponseStart(controller, status, given) {
          if (status < 200) return
          const latencyMs = Math.round(performance.now() - startedAt)
          head = { status, headers: given, latencyMs }
          // Most responses have ended by then, and need no timer.
          queueMicrotask(() => {
            if (!ended) timer = setTimeout(() => controller.abort(ENDED), BODY_MS)
          })
        },
        onResponseData(controller, chunk) {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes > BODY_BYTES) controller.abort(ENDED)
        },
        onResponseEnd: () => end(true),
        onResponseError: (_controller, error) => end(false, error),
      },
    )
  })
}
