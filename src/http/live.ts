import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type ApiError, errorBody } from '../errors.ts'
import { type Answer, bodyBytes, type Encoded, type HeaderLists } from '../platform/live-answer.ts'
import type { LiveCache } from '../platform/live-cache.ts'
import { matchesEtag } from './etag.ts'
import { countHosts } from './hosts.ts'
import type { App } from './route.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** A public answer that is no success: the same bytes, whoever asks and whatever is missing. */
export const refusalAnswer = (error: ApiError): Answer =>
  withLists({
    status: error.status,
    headers: { 'content-type': JSON_TYPE },
    body: Buffer.from(errorBody(error)),
  })

const JSON_HEADERS = { 'content-type': JSON_TYPE, vary: 'accept-encoding' }

/** A JSON text, cut so that its long part can be shared. */
export const jsonAnswer = (head: string, body: Buffer, etag: string): Answer =>
  withLists({ status: 200, headers: JSON_HEADERS, head, body, etag })

/** A JSON text of its own, which no one asks about by its tag. */
export const plainJsonAnswer = (body: Buffer): Answer =>
  withLists({ status: 200, headers: JSON_HEADERS, body })

/** Sends a finished answer from a route: what the fast path below found nothing for. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  cache: LiveCache,
  answer: Answer,
): Promise<void> {
  const encoded = await cache.encoded(answer, request.raw.headers['accept-encoding'])
  reply.hijack()
  write(request.raw, reply.raw, { answer, encoded, correlationId: request.id })
}

interface Outgoing {
  answer: Answer
  encoded: Encoded | null
  correlationId: string
}

/** Writes an answer, or only that it has not changed. The status is certain by then. */
function write(request: IncomingMessage, response: ServerResponse, outgoing: Outgoing): number {
  const { answer, encoded, correlationId } = outgoing
  const { etag, head, body } = answer
  if (etag !== undefined && matchesEtag(request.headers['if-none-match'], etag)) {
    response.writeHead(304, withId(headersOf(answer).unchanged, correlationId))
    response.end()
    return 304
  }
  if (encoded !== null) {
    const length = String(encoded.body.length)
    const more = ['content-encoding', encoded.encoding, 'content-length', length]
    const headers = [...headersOf(answer).common, ...more]
    response.writeHead(answer.status, withId(headers, correlationId))
    response.end(request.method === 'HEAD' ? undefined : encoded.body)
    return answer.status
  }
  response.writeHead(answer.status, withId(headersOf(answer).plain, correlationId))
  if (request.method === 'HEAD') response.end()
  else {
    if (head !== undefined) response.write(head)
    response.end(body)
  }
  return answer.status
}

const withId = (headers: readonly string[], correlationId: string) => [
  ...headers,
  'x-correlation-id',
  correlationId,
]

const headersOf = (answer: Answer): HeaderLists => answer.lists ?? listHeaders(answer)

function listHeaders(answer: Answer): HeaderLists {
  const { etag, headers } = answer
  const tag = etag === undefined ? [] : ['etag', etag]
  const common = [...Object.entries(headers).flat(), ...tag]
  return {
    common,
    plain: [...common, 'content-length', String(bodyBytes(answer))],
    unchanged: [...(headers.vary === undefined ? [] : ['vary', headers.vary]), ...tag],
  }
}

const withLists = (answer: Answer): Answer => ({ ...answer, lists: listHeaders(answer) })

/** One without a host, or with two, is for the route to refuse. */
const hasOneHost = ({ headers, rawHeaders }: IncomingMessage): boolean =>
  Boolean(headers.host) && countHosts(rawHeaders) === 1

/** A public read that can be answered from memory, before the router. */
export interface LiveRead {
  /** The route's pattern, for the metrics. */
  route: string
  /** Null for an address that is not this read's, or for what is not kept. */
  find(url: string): Answer | null
  /** Whether the address alone says which answer it is, so that it need not be taken apart again. */
  lasting: boolean
}

interface FastPathOptions {
  cache: LiveCache
  reads: readonly LiveRead[]
  logger: Logger
  /** Counts an answer. Told of every one, so it must cost next to nothing. */
  count: ((route: string, status: number) => void) | null
}

/** A line for each answer would cost a third of the throughput: of these, one in so many is logged. */
const LOG_ONE_IN = 1_000

/**
 * Answers what is kept before the router sees it: hits cost little more than handing out bytes. Any
 * doubt, also an odd spelling of the address, leaves the request to its route.
 */
export function answerFromMemory(app: App, options: FastPathOptions): void {
  const { cache, reads, logger, count } = options
  let unlogged = 0

  function tryAnswer(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET') return false
    const url = request.url ?? ''
    const known = cache.findByAddress(url)
    if (known !== null) return send(request, response, known.answer, known.route)
    for (const { route, find, lasting } of reads) {
      const answer = find(url)
      if (answer === null) continue
      if (lasting) cache.noteAddress(answer, url, route)
      return send(request, response, answer, route)
    }
    return false
  }

  function send(
    request: IncomingMessage,
    response: ServerResponse,
    answer: Answer,
    route: string,
  ): boolean {
    if (!hasOneHost(request)) return false
    const encoded = cache.findEncoded(answer, request.headers['accept-encoding'])
    if (encoded === undefined) return false
    const correlationId = randomUUID()
    const status = write(request, response, { answer, encoded, correlationId })
    count?.(route, status)
    unlogged = (unlogged + 1) % LOG_ONE_IN
    if (unlogged === 0) {
      const line = { reqId: correlationId, route, method: 'GET', status, sampled: LOG_ONE_IN }
      logger.info(line, 'request')
    }
    return true
  }

  // The router's is the first; whoever else listens only watches, and is to see every request.
  const [routed] = app.server.listeners('request') as RequestListener[]
  if (routed === undefined) throw new Error('the server has no router')
  app.server.removeListener('request', routed)
  app.server.prependListener('request', (request, response) => {
    if (!tryAnswer(request, response)) routed.call(app.server, request, response)
  })
}
