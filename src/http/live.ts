import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type ApiError, errorBody } from '../errors.ts'
import {
  bodyBytes,
  type CachedResponse,
  type EncodedBody,
  type HeaderLists,
} from '../platform/cached-response.ts'
import type { LiveCache } from '../platform/live-cache.ts'
import { matchesEtag } from './etag.ts'
import { type ReadPace, storeOf } from './read-pace.ts'
import { countHosts } from './repeated-headers.ts'
import type { App } from './route.ts'
import { PUBLIC_HEADERS } from './safe-headers.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** A refusal of a public route: the same bytes for every caller, whatever is missing. */
export const refusalResponse = (
  error: ApiError,
  headers: Readonly<Record<string, string>> = {},
): CachedResponse =>
  withHeaderLists({
    status: error.status,
    headers: { 'content-type': JSON_TYPE, ...PUBLIC_HEADERS, ...headers },
    body: Buffer.from(errorBody(error)),
  })

const JSON_HEADERS = {
  'content-type': JSON_TYPE,
  vary: 'accept-encoding',
  ...PUBLIC_HEADERS,
}

/** A JSON response in two parts, so that the long part can be shared. */
export const jsonResponse = (head: string, body: Buffer, etag: string): CachedResponse =>
  withHeaderLists({ status: 200, headers: JSON_HEADERS, head, body, etag })

/** A JSON response in one part, without an entity tag. */
export const plainJsonResponse = (
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): CachedResponse =>
  withHeaderLists({ status: 200, headers: { ...JSON_HEADERS, ...headers }, body })

/** Sends a cached response from a route, when `answerFromMemory` did not find it. */
export async function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  cache: LiveCache,
  cached: CachedResponse,
): Promise<void> {
  const encoded = await cache.encoded(cached, request.raw.headers['accept-encoding'])
  reply.hijack()
  write(request.raw, reply.raw, { cached, encoded, correlationId: request.id })
}

interface Outgoing {
  cached: CachedResponse
  encoded: EncodedBody | null
  correlationId: string
}

/** Writes a response, or 304 when the client has it already. Returns the status that was sent. */
function write(request: IncomingMessage, response: ServerResponse, outgoing: Outgoing): number {
  const { cached, encoded, correlationId } = outgoing
  const { etag, head, body } = cached
  if (etag !== undefined && matchesEtag(request.headers['if-none-match'], etag)) {
    response.writeHead(304, withId(headersOf(cached).unchanged, correlationId))
    response.end()
    return 304
  }
  if (encoded !== null) {
    const length = String(encoded.body.length)
    const more = ['content-encoding', encoded.encoding, 'content-length', length]
    const headers = [...headersOf(cached).common, ...more]
    response.writeHead(cached.status, withId(headers, correlationId))
    response.end(request.method === 'HEAD' ? undefined : encoded.body)
    return cached.status
  }
  response.writeHead(cached.status, withId(headersOf(cached).plain, correlationId))
  if (request.method === 'HEAD') response.end()
  else {
    if (head !== undefined) response.write(head)
    response.end(body)
  }
  return cached.status
}

const withId = (headers: readonly string[], correlationId: string) => [
  ...headers,
  'x-correlation-id',
  correlationId,
]

const headersOf = (cached: CachedResponse): HeaderLists => cached.headerLists ?? listHeaders(cached)

function listHeaders(cached: CachedResponse): HeaderLists {
  const { etag, headers } = cached
  const tag = etag === undefined ? [] : ['etag', etag]
  const unchanged = Object.entries(headers).filter(([name]) => name !== 'content-type')
  const common = [...Object.entries(headers).flat(), ...tag]
  return {
    common,
    plain: [...common, 'content-length', String(bodyBytes(cached))],
    unchanged: [...unchanged.flat(), ...tag],
  }
}

const withHeaderLists = (cached: CachedResponse): CachedResponse => ({
  ...cached,
  headerLists: listHeaders(cached),
})

/** Whether a request has exactly one host. The route refuses all others. */
const hasOneHost = ({ headers, rawHeaders }: IncomingMessage): boolean =>
  Boolean(headers.host) && countHosts(rawHeaders) === 1

/** A public read that can be answered from memory, before the router. */
export interface LiveRead {
  /** The route's pattern, for the metrics. */
  route: string
  /** Returns null when the address is not one of this route, or the response is not cached. */
  find(url: string): CachedResponse | null
  /** Whether the address alone identifies the response, so that it need not be parsed again. */
  isAddressKey: boolean
}

interface FastPathOptions {
  cache: LiveCache
  reads: readonly LiveRead[]
  logger: Logger
  pace: ReadPace
  /** Counts a response. It is called for each one, so it must cost next to nothing. */
  count: ((route: string, status: number) => void) | null
}

/** A request before the router, and whether it has waited for its turn already. */
interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  hasTurn: boolean
}

/** One in this many responses is logged: a line for each would cost a third of the throughput. */
const LOG_ONE_IN = 1_000

/**
 * Answers requests from the live cache before the router sees them: a hit costs little more than
 * sending bytes. In any doubt, also for an unusual spelling of the address, the request goes to its
 * route (decision 0007).
 */
export function answerFromMemory(app: App, options: FastPathOptions): void {
  const { cache, reads, logger, count, pace } = options
  let unlogged = 0

  function tryAnswer(exchange: Exchange): boolean {
    const { request } = exchange
    if (request.method !== 'GET') return false
    const url = request.url ?? ''
    const known = cache.findByAddress(url)
    if (known !== null) return send(exchange, known.response, known.route)
    for (const { route, find, isAddressKey } of reads) {
      const cached = find(url)
      if (cached === null) continue
      if (isAddressKey) cache.addAddress(cached, url, route)
      return send(exchange, cached, route)
    }
    return false
  }

  function send(exchange: Exchange, cached: CachedResponse, route: string): boolean {
    const { request, hasTurn } = exchange
    if (!hasOneHost(request)) return false
    const encoded = cache.findEncoded(cached, request.headers['accept-encoding'])
    if (encoded === undefined) return false
    const { url = '' } = request
    const store = storeOf(url)
    if (hasTurn || pace.take(store, url)) {
      const status = finish(exchange, route, { cached, encoded })
      if (status === 200) pace.addBytes(store, url, encoded?.body.length ?? bodyBytes(cached))
      return true
    }
    pace.defer({ store, address: url }, request, {
      start: () => answer({ ...exchange, hasTurn: true }),
      reject: (error) => {
        const refusal = refusalResponse(error, error.headers)
        finish(exchange, route, { cached: refusal, encoded: null })
      },
    })
    return true
  }

  function finish(
    { request, response }: Exchange,
    route: string,
    outgoing: Pick<Outgoing, 'cached' | 'encoded'>,
  ): number {
    // A caller who disconnected during the wait is not answered, nor one who was already refused for waiting too long.
    if (response.destroyed || response.headersSent) return 0
    const correlationId = randomUUID()
    const status = write(request, response, { ...outgoing, correlationId })
    count?.(route, status)
    unlogged = (unlogged + 1) % LOG_ONE_IN
    if (unlogged === 0) {
      const line = { reqId: correlationId, route, method: 'GET', status, sampled: LOG_ONE_IN }
      logger.info(line, 'request')
    }
    return status
  }

  // The first listener is the router's. All others only watch, and must see every request.
  const [routed] = app.server.listeners('request') as RequestListener[]
  if (routed === undefined) throw new Error('the server has no router')
  const answer = (exchange: Exchange): void => {
    if (exchange.response.headersSent) return
    if (!tryAnswer(exchange)) routed.call(app.server, exchange.request, exchange.response)
  }
  app.server.removeListener('request', routed)
  app.server.prependListener('request', (request, response) =>
    answer({ request, response, hasTurn: false }),
  )
}
