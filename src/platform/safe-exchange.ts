import type { Socket } from 'node:net'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { SafeFetchError } from './safe-address.ts'
import type { Deadline } from './safe-socket.ts'

/** Enough to show a merchant what the endpoint said, and for a key set. */
const BODY_BYTES = 64 * 1_024

/** How long an answer that has already counted may go on sending its body. */
const BODY_MS = 1_000

const NOTHING = Buffer.alloc(0)

const HEADER_BYTES = 16 * 1_024

/** No connection is used for longer, so that a certificate or a route that was changed is noticed. */
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
  /** From the call to the end of the answer's headers. */
  latencyMs: number
  /** The first 64 KiB at most. */
  body: Buffer
  /** Whether `body` is all of it. */
  complete: boolean
}

/** One request that is due an answer. */
export interface Call {
  path: string
  request: SafeRequest
  deadline: Deadline
  startedAt: number
  /** Ask the server to hang up after the answer. */
  last: boolean
}

/** A connection to an address that was checked, for one request after another. */
export interface Connection {
  /** Whether it leads to where the URL may be called now, and is still open. */
  leadsTo(origin: string, addresses: readonly string[]): boolean
  ask(call: Call): Promise<SafeResponse>
  close(): void
}

/** Why a client ends. Made once: an error of its own for each, with its stack, costs a tenth of an attempt. */
const OVER = new Error('the exchange is over')

/** `stream` goes over `socket`, which was dialled at `address`. */
export function openConnection(
  origin: string,
  address: string,
  { stream, socket }: { stream: Socket; socket: Socket },
): Connection {
  const openedAt = performance.now()
  const client = new Client(origin, {
    connect: handOver(stream),
    allowH2: false,
    maxHeaderSize: HEADER_BYTES,
    // These two restart with every byte and so bound nothing; the deadline does.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const close = () => {
    client.destroy(OVER, () => {})
    socket.destroy()
  }
  return {
    leadsTo(wanted, addresses) {
      const fresh = performance.now() - openedAt < OPEN_MS
      return fresh && !stream.destroyed && wanted === origin && addresses.includes(address)
    },
    ask(call) {
      const { deadline } = call
      if (deadline.passed) return Promise.reject(OVER)
      // Nothing follows on the same deadline: it is cleared once the answer is there.
      deadline.onPassed = close
      return exchange(client, call)
    },
    close,
  }
}

/** Gives the client the socket that was checked, once, and never another. */
function handOver(stream: Socket): buildConnector.connector {
  let given = false
  return (_options, callback) => {
    const gone = given || stream.destroyed
    given = true
    // Later, because the client does not see a socket that comes while it is still asking.
    queueMicrotask(() =>
      gone ? callback(new SafeFetchError('connect'), null) : callback(null, stream),
    )
  }
}

/** Once the head of an answer is there it counts, so nothing that follows it is a failure. */
function exchange(client: Client, { path, request, startedAt, last }: Call): Promise<SafeResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let head: Pick<SafeResponse, 'status' | 'headers' | 'latencyMs'> | null = null
    let timer: NodeJS.Timeout | undefined
    let over = false
    const end = (complete: boolean, error?: Error) => {
      over = true
      clearTimeout(timer)
      if (head === null) return reject(error ?? new SafeFetchError('protocol'))
      const body = bytes === 0 ? NOTHING : Buffer.concat(chunks).subarray(0, BODY_BYTES)
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
          // Most answers have ended by then, and need no timer.
          queueMicrotask(() => {
            if (!over) timer = setTimeout(() => controller.abort(OVER), BODY_MS)
          })
        },
        onResponseData(controller, chunk) {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes > BODY_BYTES) controller.abort(OVER)
        },
        onResponseEnd: () => end(true),
        onResponseError: (_controller, error) => end(false, error),
      },
    )
  })
}
