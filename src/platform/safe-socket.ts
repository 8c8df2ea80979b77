import { Resolver } from 'node:dns/promises'
import { connect, isIP, type Socket } from 'node:net'
import * as tls from 'node:tls'
import { hostOf, isSameAddress, SafeFetchError, UnsafeUrlError } from './safe-address.ts'

/** A name may answer with hundreds of addresses; one call must not knock on them all. */
const MAX_DIALS = 4

/** One limit over everything a call does, from name lookup to headers. */
export class Deadline {
  /** On the clock of `performance.now()`. */
  readonly endsAt: number
  readonly #timer: NodeJS.Timeout
  #controller: AbortController | null = null
  #passed = false
  /** What it ends, of that which takes no signal. */
  onPassed: (() => void) | null = null

  constructor(ms: number) {
    this.endsAt = performance.now() + ms
    this.#timer = setTimeout(() => this.#pass(), ms)
  }

  get passed(): boolean {
    return this.#passed
  }

  /** Made for whoever asks: a call over an open connection needs none. */
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

  /** It was met. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * Every address of a host, IPv4 and IPv6 in turn.
 *
 * Asks DNS itself: the system's lookup would also read the hosts file, cannot be cancelled, and
 * holds one of the few threads that all of the process's file and crypto work shares.
 */
export async function listAddresses(
  host: string,
  servers: readonly string[] | undefined,
  deadline: Deadline,
): Promise<string[]> {
  if (isIP(host) !== 0) return [host]
  // Only a test target comes here by this name, and DNS does not know it.
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

/** Opens a socket to the first of the addresses that takes it. */
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
    // A silent address may use its share of the time and not that of the addresses after it.
    const shareMs = (deadline.endsAt - performance.now()) / (candidates.length - index)
    try {
      return { socket: await open(address, port, { shareMs, signal: deadline.signal }), address }
    } catch (error) {
      if (error instanceof UnsafeUrlError) throw error
      failure = error
    }
  }
  throw new SafeFetchError('connect', failure)
}

async function open(
  address: string,
  port: number,
  { shareMs, signal }: { shareMs: number; signal: AbortSignal },
): Promise<Socket> {
  if (isIP(address) === 0) throw new UnsafeUrlError('address')
  const socket = connect({ host: address, port, signal, noDelay: true })
  const timer = setTimeout(() => socket.destroy(new Error('connect timeout')), shareMs)
  try {
    await opened(socket, 'connect')
    const remote = socket.remoteAddress
    if (remote === undefined) throw new Error('closed at once')
    // The kernel turns `0.0.0.0` into loopback, for one. Nothing has been sent yet.
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
    // A server name is a name: for an address the certificate is held against `host`.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    secureContext,
    ALPNProtocols: ['http/1.1'],
    // Said aloud, because an environment variable can turn the default off.
    rejectUnauthorized: true,
  })
  try {
    await opened(stream, 'secureConnect')
    return stream
  } catch (error) {
    throw new SafeFetchError('tls', error)
  }
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    // These stay: a socket that fails while nobody listens would end the process.
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed early')))
    socket.once(event, resolve)
  })
}
