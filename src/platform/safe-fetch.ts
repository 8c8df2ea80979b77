import { isIP } from 'node:net'
import * as tls from 'node:tls'
import {
  checkUrl,
  type FailureKind,
  hostOf,
  isPublicAddress,
  isTestTarget,
  SafeFetchError,
  UnsafeUrlError,
} from './safe-address.ts'
import {
  type Call,
  type Connection,
  openConnection,
  type SafeRequest,
  type SafeResponse,
} from './safe-exchange.ts'
import { Deadline, dial, listAddresses, secure } from './safe-socket.ts'

export interface SafeFetchOptions {
  /** `host:port` pairs for development, for which http and private addresses are allowed. */
  testTargets: readonly string[]
  /** Public addresses of this installation, which no store may make it call. */
  ownAddresses?: readonly string[]
  /** DNS servers to use instead of the system's, as `address:port`. */
  resolver?: { servers?: readonly string[] }
  timeoutMs?: number
  /** Certificates that are trusted in addition to the usual authorities, in PEM. */
  ca?: string | readonly string[]
}

/**
 * Sends calls to one endpoint, one after another, over one connection as long as that stays open.
 */
export interface SafeClient {
  /** Sends a request like `SafeFetch.send`: the name is looked up and its addresses are checked for every call. */
  send(request: SafeRequest): Promise<SafeResponse>
  /** Closes the connection. Call it only while no call is running. */
  close(): void
}

export interface SafeFetch {
  /** Throws `SafeFetchError` unless the URL may be called now. Connects to nothing. */
  check(url: string): Promise<void>
  /** Sends one request and follows no redirect. Throws only `SafeFetchError`. */
  send(request: SafeRequest): Promise<SafeResponse>
  openClient(): Promise<SafeClient>
  /** Accepts no more calls, and waits for the running ones, which their deadline limits. */
  close(): Promise<void>
}

/**
 * The only way to call an address that a store chose (decision 0005).
 *
 * The name is resolved once, every address it answers with is checked, and the socket is opened to
 * one of those addresses by number. There is no second lookup that a name server could answer
 * differently.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const { timeoutMs = 10_000 } = options
  const guard = createGuard(options)
  const idle = Promise.withResolvers<void>()
  let running = 0
  let closed = false

  async function bounded<T>(ms: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    if (closed) throw new Error('safe-fetch: called after close')
    const deadline = new Deadline(ms)
    running++
    try {
      return await work(deadline)
    } catch (error) {
      throw toSafeFetchError(error, deadline)
    } finally {
      deadline.clear()
      running--
      if (closed && running === 0) idle.resolve()
    }
  }

  function createBoundedClient(last: boolean): SafeClient {
    const { send, close } = createClient(guard, last)
    return {
      send: (request) =>
        bounded(request.timeoutMs ?? timeoutMs, (deadline) => send(request, deadline)),
      close,
    }
  }

  return {
    async check(url) {
      await bounded(timeoutMs, async (deadline) => guard.resolve(guard.parse(url), deadline))
    },
    send: (request) => createBoundedClient(true).send(request),
    openClient: async () => createBoundedClient(false),
    async close() {
      closed = true
      if (running > 0) await idle.promise
    },
  }
}

type Guard = ReturnType<typeof createGuard>

/** A parsed and checked URL. */
interface Target {
  raw: string
  url: URL
  origin: string
  path: string
  /** Whether the URL is allowed for development, wherever it leads. */
  isTestTarget: boolean
  /** The address itself, if the host is one: it was checked when the URL was parsed. */
  literal: readonly string[] | null
}

/** Decides where a call may go, and connects to nowhere else. */
function createGuard({ testTargets, ownAddresses = [], resolver, ca }: SafeFetchOptions) {
  const notAnAddress = ownAddresses.find((address) => isIP(address) === 0)
  if (notAnAddress !== undefined)
    throw new Error(`safe-fetch: ${notAnAddress} is not an IP address`)
  // Loading the authorities takes milliseconds, so it is done once and not for each call.
  const secureContext = tls.createSecureContext(
    ca === undefined ? {} : { ca: [...tls.getCACertificates(), ...[ca].flat()] },
  )
  return {
    /** Parses a URL. Throws unless it may be called as it is written. */
    parse(raw: string): Target {
      const url = checkUrl(raw, { testTargets, ownAddresses })
      const host = hostOf(url)
      return {
        raw,
        url,
        origin: url.origin,
        path: url.pathname + url.search,
        isTestTarget: isTestTarget(url, testTargets),
        literal: isIP(host) === 0 ? null : [host],
      }
    },

    /** Resolves the target's addresses. Throws unless all of them may be called. */
    async resolve({ url, isTestTarget: exempt }: Target, deadline: Deadline): Promise<string[]> {
      const addresses = await listAddresses(hostOf(url), resolver?.servers, deadline)
      if (!exempt && !addresses.every((address) => isPublicAddress(address, ownAddresses))) {
        throw new UnsafeUrlError('address')
      }
      return addresses
    },

    async connect(url: URL, addresses: readonly string[], deadline: Deadline) {
      const { socket, address } = await dial(addresses, url, deadline)
      try {
        const stream = url.protocol === 'https:' ? await secure(socket, url, secureContext) : socket
        return openConnection(url.origin, address, { stream, socket })
      } catch (error) {
        socket.destroy()
        throw error
      }
    },
  }
}

/** Creates a client. With `last`, every call is the last one on its connection. */
function createClient(guard: Guard, last: boolean) {
  let connection: Connection | null = null
  let target: Target | null = null

  function close(): void {
    connection?.close()
    connection = null
  }

  async function sendOverNew(url: URL, call: Call, addresses: readonly string[]) {
    close()
    connection = await guard.connect(url, addresses, call.deadline)
    return connection.send(call)
  }

  /** Reuses the connection as long as the name still resolves to the address it leads to. */
  async function sendOver({ url, origin }: Target, call: Call, addresses: readonly string[]) {
    if (!connection?.canServe(origin, addresses)) return sendOverNew(url, call, addresses)
    try {
      return await connection.send(call)
    } catch (error) {
      // Servers close connections between two calls, and may do so just as the second one is sent.
      if (call.deadline.passed || kindOf(error) !== 'connect') throw error
      return sendOverNew(url, call, addresses)
    }
  }

  async function send(request: SafeRequest, deadline: Deadline): Promise<SafeResponse> {
    try {
      const startedAt = performance.now()
      // The URL is mostly the same: it is parsed once, but its name is looked up for every call.
      if (target?.raw !== request.url) target = guard.parse(request.url)
      const addresses = target.literal ?? (await guard.resolve(target, deadline))
      const call = { path: target.path, request, deadline, startedAt, last }
      const response = await sendOver(target, call, addresses)
      if (last || !response.complete) close()
      return response
    } catch (error) {
      close()
      throw error
    }
  }

  return { send, close }
}

/** Turns any error into an error of this module. */
function toSafeFetchError(error: unknown, deadline: Deadline): SafeFetchError {
  if (error instanceof UnsafeUrlError) return error
  if (deadline.passed) return new SafeFetchError('timeout', error)
  return error instanceof SafeFetchError ? error : new SafeFetchError(kindOf(error), error)
}

function kindOf(error: unknown): FailureKind {
  if (error instanceof SafeFetchError) return error.kind
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ETIMEDOUT') return 'timeout'
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'tls'
  if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code)) return 'connect'
  return 'protocol'
}
