import { isIP, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import * as tls from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import {
  checkUrl,
  type FailureKind,
  hostOf,
  isPublicAddress,
  isTestTarget,
  SafeFetchError,
  UnsafeUrlError,
} from './safe-address.ts'
import { type Deadline, dial, listAddresses, secure } from './safe-socket.ts'

/** Enough to show a merchant what the endpoint said, and for a key set. */
const BODY_BYTES = 64 * 1_024

/** How long an answer that has already counted may go on sending its body. */
const BODY_MS = 1_000

const HEADER_BYTES = 16 * 1_024

export interface SafeFetchOptions {
  /** `host:port` pairs for development, where http and private addresses are allowed. */
  testTargets: readonly string[]
  /** Public addresses of this installation, which no tenant may make it call. */
  ownAddresses?: readonly string[]
  /** Name servers to ask instead of the system's, as `address:port`. */
  resolver?: { servers?: readonly string[] }
  timeoutMs?: number
  /** Certificates trusted besides the usual authorities, in PEM. */
  ca?: string | readonly string[]
}

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

export interface SafeFetch {
  /** Throws `SafeFetchError` unless the URL may be called now. Connects to nothing. */
  check(url: string): Promise<void>
  /** Makes one call and follows no redirect. Throws only `SafeFetchError`. */
  send(request: SafeRequest): Promise<SafeResponse>
  /** Takes no more calls, and waits for those under way, which their deadline bounds. */
  close(): Promise<void>
}

/**
 * The only way to call an address that a tenant chose.
 *
 * The name is resolved once, every address it answers with is checked, and the socket is opened
 * to one of those addresses by number. No second lookup exists for a name server to answer
 * differently.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { testTargets, ownAddresses = [], timeoutMs = 10_000 } = options
  const mistaken = ownAddresses.find((address) => isIP(address) === 0)
  if (mistaken !== undefined) throw new Error(`safe-fetch: ${mistaken} is not an IP address`)
  // Reading the authorities takes milliseconds, so it is done once and not for each call.
  const secureContext = tls.createSecureContext(
    options.ca === undefined ? {} : { ca: [...tls.getCACertificates(), ...[options.ca].flat()] },
  )
  const underWay = new Set<Promise<unknown>>()
  let closed = false

  async function vet(raw: string, deadline: Deadline) {
    const url = checkUrl(raw, { testTargets, ownAddresses })
    const exempt = isTestTarget(url, testTargets)
    const addresses = await listAddresses(hostOf(url), options.resolver?.servers, deadline)
    if (!exempt && !addresses.every((address) => isPublicAddress(address, ownAddresses))) {
      throw new UnsafeUrlError('address')
    }
    return { url, addresses }
  }

  async function attempt(request: SafeRequest, deadline: Deadline) {
    const startedAt = performance.now()
    const { url, addresses } = await vet(request.url, deadline)
    const socket = await dial(addresses, url, deadline)
    try {
      const stream = url.protocol === 'https:' ? await secure(socket, url, secureContext) : socket
      return await exchange({ url, stream, request, deadline, startedAt })
    } finally {
      socket.destroy()
    }
  }

  async function bounded<T>(ms: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    if (closed) throw new Error('safe-fetch: called after close')
    const running = withDeadline(ms, work)
    underWay.add(running)
    try {
      return await running
    } finally {
      underWay.delete(running)
    }
  }

  return {
    async check(url) {
      await bounded(timeoutMs, (deadline) => vet(url, deadline))
    },
    send: (request) =>
      bounded(request.timeoutMs ?? timeoutMs, (deadline) => attempt(request, deadline)),
    async close() {
      closed = true
      await Promise.allSettled(underWay)
    },
  }
}

async function withDeadline<T>(ms: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), ms)
  try {
    return await work({ signal: controller.signal, endsAt: performance.now() + ms })
  } catch (error) {
    if (error instanceof UnsafeUrlError) throw error
    if (controller.signal.aborted) throw new SafeFetchError('timeout', error)
    throw error instanceof SafeFetchError ? error : new SafeFetchError(kindOf(error), error)
  } finally {
    clearTimeout(timer)
  }
}

interface Exchange {
  url: URL
  stream: Socket
  request: SafeRequest
  deadline: Deadline
  startedAt: number
}

/** Why a client ends. Made once: an error of its own for each, with its stack, costs a tenth of an attempt. */
const OVER = new Error('the exchange is over')

async function exchange(call: Exchange): Promise<SafeResponse> {
  const { url, request, deadline } = call
  const client = new Client(url.origin, {
    connect: handOver(call.stream),
    allowH2: false,
    maxHeaderSize: HEADER_BYTES,
    // These two restart with every byte and so bound nothing; the deadline does.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  try {
    const answer = await client.request({
      path: url.pathname + url.search,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal: deadline.signal,
      reset: true,
    })
    const latencyMs = Math.round(performance.now() - call.startedAt)
    const { body, complete } = await readStart(answer.body)
    return { status: answer.statusCode, headers: answer.headers, latencyMs, body, complete }
  } finally {
    await client.destroy(OVER)
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

/** The first bytes of a body. The answer has counted already, so nothing here is a failure. */
async function readStart(stream: Readable): Promise<{ body: Buffer; complete: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  let complete = false
  const timer = setTimeout(() => stream.destroy(), BODY_MS)
  stream.on('error', () => {})
  try {
    for await (const chunk of stream) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > BODY_BYTES) break
    }
    complete = bytes <= BODY_BYTES
  } catch {
    complete = false
  } finally {
    clearTimeout(timer)
    stream.destroy()
  }
  return { body: Buffer.concat(chunks).subarray(0, BODY_BYTES), complete }
}

function kindOf(error: unknown): FailureKind {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'tls'
  if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code)) return 'connect'
  return 'protocol'
}
