import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a request is answered with. A body that comes in parts is sent as it comes. */
export interface Answer {
  status: number
  body: string | Buffer | AsyncIterable<string>
  type?: string
  headers?: Record<string, string>
  cookies?: readonly string[]
}

export const redirect = (to: string, cookies: readonly string[] = []): Answer => ({
  status: 303,
  body: '',
  headers: { location: to },
  cookies,
})

export const SECURITY = (cdn: string | null): Record<string, string> => {
  const pictures = cdn === null ? "'self'" : `'self' ${new URL(cdn).origin}`
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      `img-src ${pictures}`,
      `media-src ${pictures}`,
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'x-content-type-options': 'nosniff',
    // Not stricter: without a referrer the browser says no Origin either, and forms need that.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
  }
}

const HTML = 'text/html; charset=utf-8'

export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
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
  if (request.method === 'HEAD') response.end()
  else if (isWhole) response.end(body)
  else await stream(response, body)
}

async function stream(response: ServerResponse, parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) {
    if (response.destroyed) return
    response.write(part)
  }
  response.end()
}

/** More than any of our forms can be. */
const FORM_BYTES_MAX = 32_768

/** A form as browsers send it. Null for anything else. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('application/x-www-form-urlencoded')) return null
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    // Read to its end all the same: what comes behind it on this connection would wait for ever.
    if (bytes <= FORM_BYTES_MAX) parts.push(part)
  }
  return bytes > FORM_BYTES_MAX ? null : new URLSearchParams(Buffer.concat(parts).toString())
}

/**
 * Whether a form may be one of this very store's own: no header says otherwise. Browsers say where a
 * post comes from. What says nothing is a program with no cookies but its own, and `SameSite` keeps
 * cookies from the posts of other sites, so that there is nothing it could do.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined) return true
  return URL.canParse(origin) && new URL(origin).host === host
}
