import type { Pool } from 'undici'

/** The platform over HTTP, and nothing else of it: the public contract is all that a shop knows. */
export interface Platform {
  /** A public read. With a tag that is still good there is no value. */
  read(path: string, etag?: string): Promise<Read>
  /** On the storefront plane: the token goes with it. */
  ask<T>(method: 'GET' | 'POST', path: string, options?: AskOptions): Promise<T>
  /** The bytes of an asset, handed through as they come. Whoever asks must read or destroy them. */
  fetchAsset(
    method: 'GET' | 'HEAD',
    path: string,
    headers: Record<string, string>,
  ): Promise<AssetAnswer>
  close(): Promise<void>
}

export interface Read {
  unchanged: boolean
  text: string
  etag: string | null
}

interface AskOptions {
  body?: unknown
  idempotencyKey?: string
}

type AssetAnswer = Awaited<ReturnType<Pool['request']>>

/** A refusal of the platform, or its absence (503 `unreachable`). */
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

/** There is no such store, or none that the public may see. */
export const isClosed = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'unknown_tenant'

const READ_MS = 5_000
/** A checkout waits for a gateway, and for another request with the same key. */
const ASK_MS = 30_000

const ANSWER_BYTES_MAX = 64 * 1_024 * 1_024

interface PlatformOptions {
  /** Asked for with each request, since an own process knows its port only once it listens. */
  url(): string
  token: string
}

/** Loaded and opened with the first request: an idle process needs neither. */
function poolOf(url: () => string, options: Pool.Options) {
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

export function openPlatform({ url, token }: PlatformOptions): Platform {
  const pool = poolOf(url, { connections: 32, maxResponseSize: ANSWER_BYTES_MAX })
  // As slow as whoever looks at them: they must keep no page and no payment waiting.
  const pictures = poolOf(url, { connections: 128 })

  async function request(options: Parameters<Pool['request']>[0], ms: number) {
    try {
      const signal = AbortSignal.timeout(ms)
      return await (await pool.open()).request({ ...options, signal })
    } catch (cause) {
      throw unreachable(cause)
    }
  }

  return {
    async read(path, etag) {
      const headers = etag === undefined ? {} : { 'if-none-match': etag }
      const answer = await request({ method: 'GET', path, headers }, READ_MS)
      const text = await readText(answer)
      const tag = answer.headers.etag
      const unchanged = answer.statusCode === 304
      if (!unchanged) refuse(answer, text)
      return { unchanged, text, etag: typeof tag === 'string' ? tag : null }
    },
    async ask<T>(method: 'GET' | 'POST', path: string, { body, idempotencyKey }: AskOptions = {}) {
      const headers: Record<string, string> = { 'x-storefront-token': token }
      if (body !== undefined) headers['content-type'] = 'application/json'
      if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
      const sent = body === undefined ? null : JSON.stringify(body)
      const answer = await request({ method, path, headers, body: sent }, ASK_MS)
      const text = await readText(answer)
      refuse(answer, text)
      return JSON.parse(text) as T
    },
    async fetchAsset(method, path, headers) {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(), READ_MS)
      try {
        return await (await pictures.open()).request({ method, path, headers, signal: late.signal })
      } catch (cause) {
        throw unreachable(cause)
      } finally {
        clearTimeout(timer)
      }
    },
    async close() {
      await Promise.all([pool.close(), pictures.close()])
    },
  }
}

async function readText(answer: AssetAnswer): Promise<string> {
  try {
    return await answer.body.text()
  } catch (cause) {
    throw unreachable(cause)
  }
}

function refuse({ statusCode, headers }: AssetAnswer, text: string): void {
  if (statusCode < 300) return
  const after = Number(headers['retry-after'])
  throw new PlatformError(statusCode, readBody(text), Number.isInteger(after) ? after : null)
}

function readBody(text: string): Record<string, unknown> {
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
