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

/** Calls to one endpoint, one after another, over one connection as long as that stays open. */
export interface SafeLine {
  /** As `SafeFetch.send`: the name is looked up and its addresses are checked for every call. */
  send(request: SafeRequest): Promise<SafeResponse>
  /** Hangs up. To be called when nothing is under way. */
  close(): void
}

export interface SafeFetch {
  /** Throws `SafeFetchError` unless the URL may be called now. Connects to nothing. */
  check(url: string): Promise<void>
  /** Makes one call and follows no redirect. Throws only `SafeFetchError`. */
  send(request: SafeRequest): Promise<SafeResponse>
  openLine(): Promise<SafeLine>
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
  const { timeoutMs = 10_000 } = options
  const guard = createGuard(options)
  const over = Promise.withResolvers<void>()
  let underWay = 0
  let closed = false

  async function bounded<T>(ms: number, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    if (closed) throw new Error('safe-fetch: called after close')
    const deadline = new Deadline(ms)
    underWay++
    try {
      return await work(deadline)
    } catch (error) {
      throw named(error, deadline)
    } finally {
      deadline.clear()
      underWay--
      if (closed && underWay === 0) over.resolve()
    }
  }

  function openLine(last: boolean): SafeLine {
    const { send, close } = createLine(guard, last)
    return {
      send: (request) =>
        bounded(request.timeoutMs ?? timeoutMs, (deadline) => send(request, deadline)),
      close,
    }
  }

  return {
    async check(url) {
      await bounded(timeoutMs, async (deadline) => guard.locate(guard.read(url), deadline))
    },
    send: (request) => openLine(true).send(request),
    openLine: async () => openLine(false),
    async close() {
      closed = true
      if (underWay > 0) await over.promise
    },
  }
}

type Guard = ReturnType<typeof createGuard>

/** A URL that was read. */
interface Place {
  raw: string
  url: URL
  origin: string
  path: string
  /** Named for development, wherever it leads. */
  exempt: boolean
  /** Where it leads if its host is an address: to itself, and that was checked when it was read. */
  literal: readonly string[] | null
}

/** Says where a call may go, and connects to nowhere else. */
function createGuard({ testTargets, ownAddresses = [], resolver, ca }: SafeFetchOptions) {
  const mistaken = ownAddresses.find((address) => isIP(address) === 0)
  if (mistaken !== undefined) throw new Error(`safe-fetch: ${mistaken} is not an IP address`)
  // Reading the authorities takes milliseconds, so it is done once and not for each call.
  const secureContext = tls.createSecureContext(
    ca === undefined ? {} : { ca: [...tls.getCACertificates(), ...[ca].flat()] },
  )
  return {
    /** Throws unless the URL may be called as it is written. */
    read(raw: string): Place {
      const url = checkUrl(raw, { testTargets, ownAddresses })
      const host = hostOf(url)
      return {
        raw,
        url,
        origin: url.origin,
        path: url.pathname + url.search,
        exempt: isTestTarget(url, testTargets),
        literal: isIP(host) === 0 ? null : [host],
      }
    },

    /** Where that leads now. Throws unless all of it may be called. */
    async locate({ url, exempt }: Place, deadline: Deadline): Promise<string[]> {
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

/** `last`: every call is the last on its connection. */
function createLine(guard: Guard, last: boolean) {
  let open: Connection | null = null
  let place: Place | null = null

  function close(): void {
    open?.close()
    open = null
  }

  async function askAnew(url: URL, call: Call, addresses: readonly string[]) {
    close()
    open = await guard.connect(url, addresses, call.deadline)
    return open.ask(call)
  }

  /** A connection goes on being used while the name still answers with the address it leads to. */
  async function ask({ url, origin }: Place, call: Call, addresses: readonly string[]) {
    if (!open?.leadsTo(origin, addresses)) return askAnew(url, call, addresses)
    try {
      return await open.ask(call)
    } catch (error) {
      // Servers hang up between two calls, and may do so just as the second one leaves.
      if (call.deadline.passed || kindOf(error) !== 'connect') throw error
      return askAnew(url, call, addresses)
    }
  }

  async function send(request: SafeRequest, deadline: Deadline): Promise<SafeResponse> {
    try {
      const startedAt = performance.now()
      // The same URL time after time: it is read once, and looked up for every call.
      if (place?.raw !== request.url) place = guard.read(request.url)
      const addresses = place.literal ?? (await guard.locate(place, deadline))
      const call = { path: place.path, request, deadline, startedAt, last }
      const answer = await ask(place, call, addresses)
      if (last || !answer.complete) close()
      return answer
    } catch (error) {
      close()
      throw error
    }
  }

  return { send, close }
}

/** What went wrong, in the words of this module. */
function named(error: unknown, deadline: Deadline): SafeFetchError {
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
