import type { FastifyRequest } from 'fastify'
import { ApiError, invalidBody } from '../errors.ts'
import { IJsonError, parseIJson } from '../kernel/i-json.ts'
import { quotable } from './errors.ts'
import type { App } from './route.ts'

/** Accepts only JSON bodies, read by our own strict parser. Any other type answers 415. */
export function acceptOnlyJson(app: App): void {
  app.decorateRequest('verbatim', '')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => readJson(request, bytes),
  )
}

/** Parses a JSON body. A route that reads its body itself calls it too, when it finds that the body is JSON. */
export function readJson(request: FastifyRequest, bytes: Buffer): unknown {
  const charset = /charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (request.headers['content-encoding'] !== undefined || !/^(utf-?8)?$/i.test(charset ?? '')) {
    throw new ApiError('unsupported_media_type')
  }
  // Many clients name the type even when they send no body; a route that needs a body refuses the request itself.
  if (bytes.length === 0) return undefined
  try {
    const { verbatim } = request.routeOptions.config
    const { value, slice } = parseIJson(bytes, verbatim === undefined ? {} : { sliceOf: verbatim })
    if (slice !== undefined) request.verbatim = bytes.toString('utf8', slice.start, slice.end)
    return value
  } catch (error) {
    if (!(error instanceof IJsonError)) throw error
    const path = error.path.split('/').slice(1).map(quotable).join('.')
    throw invalidBody(path, error.message)
  }
}
