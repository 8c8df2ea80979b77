import type { Pool } from 'undici'
import { shopperHeaders } from './shopper-address.ts'

/**
 * Sends HTTP requests to the platform. The public contract is all that a storefront knows of it.
 */
export interface PlatformClient {
  /** Reads a public route. The text is empty if the ETag is still valid. */
  readPublic(path: string, etag?: string): Promise<PublicAnswer>
  /** Calls a route of the storefront plane, with the storefront token. */
  call<T>(method: CallMethod, path: string, options?: CallOptions): Promise<T>
  /** Opens an asset as a stream. The caller must read or destroy its body. */
  fetchAsset(
    method: 'GET' | 'HEAD',
    path: string,
    headers: Record<string, string>,
  ): Promise<RawAnswer>
  /** Opens a feed as a stream. The caller must read or destroy its body. */
  openFeed(
    method: 'GET' | 'HEAD',
    path: string,
    headers: Record<string, string>,
  ): Promise<RawAnswer>
  close(): Promise<void>
}

export interface PublicAnswer {
  unchanged: boolean
  text: string
  etag: string | null
}

type CallMethod = 'GET' | 'POST' | 'PATCH'

interface CallOptions {
  body?: unknown
  idempotencyKey?: string
}

type RawAnswer = Awaited<ReturnType<Pool['request']>>

/** An error answer of the platform, or the error that it cannot be reached (503 `unreachable`). */
export class PlatformError extends Error {
  readonly status: number
  readonly code: string
  readonly body: Record<string, unknown>
  readonly retryAfterSeconds: number | null
  constructor(status: number, body: Record<string, unknown>, retryAfterSeconds: number | null) {
    const { code } = Object(body.error) as { code?: unknown }
    super(`the platform answered ${status} ${String(code)}`)
    this.name = 'PlatformError'
    this.status = status
    this.code = typeof code === 'string' ? code : 'unreadable'
    this.body = body
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Whether the platform knows no store of that name, or none that the public may see. */
export const isUnknownStore = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'unknown_tenant'

/** Whether the platform refused a request (4xx), as opposed to failing at it. */
export const isRefusal = (error: unknown): error is PlatformError =>
  error instanceof PlatformError && error.status < 500

const READ_MS = 5_000
/** A checkout waits for a gateway, and for another request with the same idempotency key. */
const CALL_MS = 30_000

/** How long a feed may take to begin: the first page of a large catalog, whose texts were never scanned. */
const FEED_MS = 60_000

const ANSWER_BYTES_MAX = 64 * 1_024 * 1_024

interface PlatformOptions {
  /**
   * Returns the address of the platform. Called when a pool opens, since a process that serves itself
   * knows its port only once it listens.
   */
  url(): string
  token: string
  /** How long a read may take. */
  readMs?: number | undefined
}

/** Loads undici and opens the pool with the first request: an idle process needs neither. */
function createPool(url: () => string, options: Pool.Options) {
  let opened: Promise<Pool> | null = null
  return {
    open() {
      opened ??= import('undici').then((undici) => new undici.Pool(url(), options))
      return opened
    },
    async close() {
      if (opened !== null) await (await opened).close()
    },
  }
}

export function openPlatformClient({
  url,
  token,
  readMs = READ_MS,
}: PlatformOptions): PlatformClient {
  // More connections than one busy store has waiting reads: the pages of other stores need some, too.
  const pool = createPool(url, { connections: 128, maxResponseSize: ANSWER_BYTES_MAX })
  // Assets have connections of their own: a slow reader of images must not delay pages and
  // payments.
  const assets = createPool(url, { connections: 128 })

  async function request(options: Parameters<Pool['request']>[0], timeoutMs: number) {
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      return await (await pool.open()).request({ ...options, signal })
    } catch (cause) {
      throw unreachable(cause)
    }
  }

  /** Opens an answer whose body is a stream: only its headers must come in time. */
  const openStream =
    (timeoutMs: number): PlatformClient['fetchAsset'] =>
    async (method, path, headers) => {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(), timeoutMs)
      try {
        const all = { ...headers, ...shopperHeaders(token) }
        const { signal } = late
        return await (await assets.open()).request({ method, path, headers: all, signal })
      } catch (cause) {
        throw unreachable(cause)
      } finally {
        clearTimeout(timer)
      }
    }

  return {
    async readPublic(path, etag) {
      const headers = {
        ...shopperHeaders(token),
        ...(etag !== undefined && { 'if-none-match': etag }),
      }
      const answer = await request({ method: 'GET', path, headers }, readMs)
      const text = await readText(answer)
      const tag = answer.headers.etag
      const unchanged = answer.statusCode === 304
      if (!unchanged) requireSuccess(answer, text)
      return { unchanged, text, etag: typeof tag === 'string' ? tag : null }
    },
    async call<T>(method: CallMethod, path: string, { body, idempotencyKey }: CallOptions = {}) {
      const headers: Record<string, string> = { 'x-storefront-token': token }
      if (body !== undefined) headers['content-type'] = 'application/json'
      if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
      const sent = body === undefined ? null : JSON.stringify(body)
      const answer = await request({ method, path, headers, body: sent }, CALL_MS)
      const text = await readText(answer)
      requireSuccess(answer, text)
      return JSON.parse(text) as T
    },
    fetchAsset: openStream(readMs),
    async openFeed(method, path, headers) {
      const answer = await openStream(FEED_MS)(method, path, headers)
      if (answer.statusCode >= 400) requireSuccess(answer, await readText(answer))
      return answer
    },
    async close() {
      await Promise.all([pool.close(), assets.close()])
    },
  }
}

async function readText(answer: RawAnswer): Promise<string> {
  try {
    return await answer.body.text()
  } catch (cause) {
    throw unreachable(cause)
  }
}

function requireSuccess({ statusCode, headers }: RawAnswer, text: string): void {
  if (statusCode < 300) return
  const after = Number(headers['retry-after'])
  throw new PlatformError(statusCode, parseBody(text), Number.isInteger(after) ? after : null)
}

function parseBody(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}

function unreachable(cause: unknown): PlatformError {
  const error = new PlatformError(503, { error: { code: 'unreachable' } }, null)
  error.cause = cause
  return error
}
