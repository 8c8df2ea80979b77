import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { StaticFile } from './files.ts'
import type { Platform } from './platform.ts'

/** A file of ours: its name changes with its content, so that it keeps under the name it has. */
export async function fileAnswer(request: IncomingMessage, file: StaticFile, isAsked = true) {
  const { body, encoding } = await file.encoded(request.headers['accept-encoding'])
  const headers: Record<string, string> = {
    'cache-control': isAsked ? 'public, max-age=31536000, immutable' : 'no-store',
    vary: 'accept-encoding',
  }
  if (encoding !== null) headers['content-encoding'] = encoding
  return { status: 200, body, type: file.type, headers }
}

/** With the policy that the platform has for drawings, which is stricter than that of our pages. */
const FORWARDED = [
  'content-type',
  'content-length',
  'etag',
  'cache-control',
  'content-range',
  'accept-ranges',
  'content-security-policy',
]

/** The largest picture at half a megabit a second. */
const PICTURE_MS = 320_000

/** Pictures are the platform's. Where it does not answer on this host itself, they come through here. */
export async function handThrough(
  platform: Platform,
  common: Record<string, string>,
  { request, response, url }: { request: IncomingMessage; response: ServerResponse; url: URL },
): Promise<null> {
  const { range, 'if-none-match': tag } = request.headers
  const asked = {
    ...(range === undefined ? {} : { range }),
    ...(tag === undefined ? {} : { 'if-none-match': tag }),
  }
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET'
  const path = url.pathname + url.search
  const { statusCode, headers, body } = await platform.fetchAsset(method, path, asked)
  const kept = FORWARDED.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  response.writeHead(statusCode, { ...common, ...Object.fromEntries(kept) })
  try {
    await pipeline(body, response, { signal: AbortSignal.timeout(PICTURE_MS) })
  } catch {
    // Whoever asked has gone, or takes for ever, or the platform broke off: both ends are closed.
  }
  return null
}
