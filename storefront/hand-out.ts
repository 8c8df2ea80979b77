import type { IncomingMessage, ServerResponse } from 'node:http'
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

const FORWARDED = ['content-type', 'content-length', 'etag', 'cache-control', 'content-range']

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
  const { statusCode, headers, body } = await platform.fetchAsset(url.pathname + url.search, asked)
  const kept = FORWARDED.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  response.writeHead(statusCode, { ...common, ...Object.fromEntries(kept) })
  body.on('error', () => response.destroy()).pipe(response)
  return null
}
