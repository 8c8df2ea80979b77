import { Resolver } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import * as tls from 'node:tls'
import { hostOf, isSameAddress, SafeFetchError, UnsafeUrlError } from './safe-address.ts'

/** How many addresses one call tries. A name may resolve to hundreds of them. */
const MAX_DIALS = 4

/** One time limit for everything a call does, from name lookup to response headers. */
export class Deadline {
  /** When the limit ends, on the clock of `performance.now()`. */
  readonly endsAt: number
  readonly #timer: NodeJS.Timeout
  #controller: AbortController | null = null
  #passed = false
  /** Ends work that does not accept a signal. */
  onPassed: (() => void) | null = null

  constructor(ms: number) {
    this.endsAt = performance.now() + ms
    this.#timer = setTimeout(() => this.#pass(), ms)
  }

  get passed(): boolean {
    return this.#passed
  }

  /** Created on demand: a call over an open connection needs none. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#passed) this.#controller.abort()
    return this.#controller.signal
  }

  #pass(): void {
    this.#passed = true
    this.onPassed?.()
    this.#controller?.abort()
  }

  /** Stops the timer, because the call ended in time. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * Lists every address of a host, IPv4 and IPv6 alternating.
 *
 * It queries DNS itself: the system's lookup would also read the hosts file, cannot be cancelled,
 * and holds one of the few threads that all file and crypto work of the process shares.
 */
export async function listAddresses(
  host: string,
  servers: readonly string[] | undefined,
  deadline: Deadline,
): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  // Only a test target can have this name here, and DNS does not know it.
  if (host === 'localhost') return ['127.0.0.1', '::1']

  const resolver = new Resolver({ timeout: 2_000, maxTimeout: 2_000, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const { signal } = deadline
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const first = v4.status === 'fulfilled' ? v4.value : []
    const second = v6.status === 'fulfilled' ? v6.value : []
    if (first.length + second.length === 0) {
      throw new SafeFetchError('dns', v4.status === 'rejected' ? v4.reason : undefined)
    }
    const turns = Array.from({ length: Math.max(first.length, second.length) }, (_, i) => i)
    return turns.flatMap((i) => [...first.slice(i, i + 1), ...second.slice(i, i + 1)])
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Opens a socket to the first address that accepts it. */
export async function dial(
  addresses: readonly string[],
  url: URL,
  deadline: Deadline,
): Promise<{ socket: Socket; address: string }> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const candidates = addresses.slice(0, MAX_DIALS)
  let failure: unknown
  for (const [index, address] of candidates.entries()) {
    if (deadline.passed) break
    // A silent address may use its own share of the time, and not the share of the addresses after it.
    const shareMs = (deadline.endsAt - performance.now()) / (candidates.length - index)
    try {
      return {
        socket: await openSocket(address, port, { shareMs, signal: deadline.signal }),
        address,
      }
    } catch (error) {
      if (error instanceof UnsafeUrlError) throw error
      failure = error
    }
  }
  throw new SafeFetchError('connect', failure)
}

async function openSocket(
  address: string,
  port: number,
  { shareMs, signal }: { shareMs: number; signal: AbortSignal },
): Promise<Socket> {
  if (isIP(address) === 0) throw new UnsafeUrlError('address')
  const socket = connect({ host: address, port, signal, noDelay: true })
  const timer = setTimeout(() => socket.destroy(new Error('connect timeout')), shareMs)
  try {
    await waitForEvent(socket, 'connect')
    const remote = socket.remoteAddress
    if (remote === undefined) throw new Error('closed at once')
    // The kernel turns `0.0.0.0` into loopback, for example. Nothing has been sent yet.
    if (!isSameAddress(remote, address)) throw new UnsafeUrlError('address')
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

export async function secure(socket: Socket, url: URL, secureContext: tls.SecureContext) {
  const host = hostOf(url)
  const stream = tls.connect({
    socket,
    host,
    // A server name must be a name: the certificate of an address is checked against `host`.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, because an environment variable can turn the default off.
    rejectUnauthorized: true,
  })
  try {
    await waitForEvent(stream, 'secureConnect')
    return stream
  } catch (error) {
    throw new SafeFetchError('tls', error)
  }
}

function waitForEvent(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    // These listeners stay: a socket that fails without one would end the process.
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed early')))
    socket.once(event, resolve)
  })
}
