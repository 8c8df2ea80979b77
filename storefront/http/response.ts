import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * The answer to a request. A body in parts is sent as the parts come; the body of a file is a stream,
 * sent no faster than it is read.
 */
export interface HttpResponse {
  status: number
  body: string | Buffer | AsyncIterable<string> | Readable
  type?: string
  headers?: Record<string, string>
  /** Values of `set-cookie`. */
  cookies?: readonly string[]
}

/** 303: the browser fetches the address with GET, so that a reload does not send the form again. */
export const redirect = (to: string, cookies: readonly string[] = []): HttpResponse => ({
  status: 303,
  body: '',
  headers: { location: to },
  cookies,
})

/** Adds cookies to a response, before those it sets itself. */
export const withCookies = (response: HttpResponse, cookies: readonly string[]): HttpResponse => ({
  ...response,
  cookies: [...cookies, ...(response.cookies ?? [])],
})

/** The other origins from which a page loads. Most pages load nothing from others. */
export interface OtherOrigins {
  /** The origins of frames: of videos that it shows after a click, and of the card fields of a gateway. */
  frames?: readonly string[]
  /** The origins of scripts: of the script of a gateway, which makes its card fields. */
  scripts?: readonly string[]
}

/** The content security policy of a page. */
export function contentPolicy(
  assetBaseUrl: string | null,
  { frames = [], scripts = [] }: OtherOrigins = {},
): string {
  const own = ["'self'", ...scripts].join(' ')
  const media = assetBaseUrl === null ? "'self'" : `'self' ${new URL(assetBaseUrl).origin}`
  return [
    "default-src 'none'",
    `script-src ${own}`,
    "style-src 'self'",
    `img-src ${media}`,
    `media-src ${media}`,
    "font-src 'self'",
    `connect-src ${own}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(frames.length === 0 ? [] : [`frame-src ${frames.join(' ')}`]),
  ].join('; ')
}

/** The policy of a page with videos of other hosts; no header for any other page. */
export const frameHeaders = (
  assetBaseUrl: string | null,
  frames: readonly string[],
): Record<string, string> =>
  frames.length === 0 ? {} : { 'content-security-policy': contentPolicy(assetBaseUrl, { frames }) }

/** The headers of every response. Pages load nothing from other origins except images of the store. */
export function securityHeaders(assetBaseUrl: string | null): Record<string, string> {
  return {
    'content-security-policy': contentPolicy(assetBaseUrl),
    'x-content-type-options': 'nosniff',
    // Not stricter: a browser that sends no referrer sends no Origin either, and forms need that.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  }
}

const HTML = 'text/html; charset=utf-8'

export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: HttpResponse,
  common: Record<string, string>,
): Promise<void> {
  const { status, body, type = HTML, headers = {}, cookies = [] } = answer
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
  response.writeHead(status, {
    ...common,
    'content-type': type,
    ...headers,
    ...(cookies.length === 0 ? {} : { 'set-cookie': [...cookies] }),
    ...(isWhole ? { 'content-length': Buffer.byteLength(body) } : {}),
  })
  if (body instanceof Readable) await sendStream(request, response, body)
  else if (request.method === 'HEAD') response.end()
  else if (isWhole) response.end(body)
  else await sendParts(response, body)
}

/** How long a stream may be sent: as long as the platform itself sends a feed. */
const SEND_MS = 300_000

async function sendStream({ method }: IncomingMessage, response: ServerResponse, body: Readable) {
  if (method === 'HEAD') {
    body.resume()
    response.end()
    return
  }
  await forwardBody(response, body, SEND_MS)
}

/** Forwards a stream of the platform for at most this long. */
export async function forwardBody(
  response: ServerResponse,
  body: Readable,
  atMostMs: number,
): Promise<void> {
  if (response.destroyed) return dropBody(body)
  try {
    await pipeline(body, response, { signal: AbortSignal.timeout(atMostMs) })
  } catch {
    // The reader has disconnected or reads too slowly, or the platform broke off. `pipeline` has closed both ends, so
    // that the reader does not mistake the part for the whole.
  }
}

/** Frees the connection to the platform if the reader left before the stream came: `pipeline` would wait for ever. */
function dropBody(body: Readable): void {
  body.on('error', () => {})
  body.destroy()
}

async function sendParts(response: ServerResponse, parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) {
    if (response.destroyed) return
    response.write(part)
  }
  response.end()
}
