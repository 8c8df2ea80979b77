import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { type ApiError, errorBody } from '../errors.ts'
import { type Answer, bodyBytes, type Encoded } from '../platform/live-answer.ts'
import type { LiveCache } from '../platform/live-cache.ts'
import type { Answered } from './access-log.ts'
import { matchesEtag } from './etag.ts'
import type { App } from './route.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

/** A public answer that is no success: the same bytes, whoever asks and whatever is missing. */
export const refusalAnswer = (error: ApiError): Answer => ({
  status: error.status,
  headers: { 'content-type': JSON_TYPE },
  body: Buffer.from(errorBody(error)),
})

/** A JSON text, cut so that its long part can be shared. */
export const jsonAnswer = (head: string, body: Buffer, tail: string, etag: string): Answer => ({
  status: 200,
  headers: { 'content-type': JSON_TYPE, vary: 'accept-encoding' },
  head,
  body,
  tail,
  etag,
})

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
  const { etag, head, body, tail } = answer
  const headers = ['x-correlation-id', correlationId]
  if (etag !== undefined) {
    headers.push('etag', etag)
    if (matchesEtag(request.headers['if-none-match'], etag)) {
      // RFC 9110 wants it here as well: a cache between us keeps one entry for each encoding.
      if (answer.headers.vary !== undefined) headers.push('vary', answer.headers.vary)
      response.writeHead(304, headers)
      response.end()
      return 304
    }
  }
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  if (encoded !== null) headers.push('content-encoding', encoded.encoding)
  headers.push('content-length', String(encoded?.body.length ?? bodyBytes(answer)))
  response.writeHead(answer.status, headers)
  if (request.method === 'HEAD') response.end()
  else if (encoded !== null) response.end(encoded.body)
  else {
    if (head !== undefined) response.write(head)
    response.write(body)
    response.end(tail)
  }
  return answer.status
}

/** One without a host, or with two, is for the route to refuse. */
function hasOneHost({ headers, rawHeaders }: IncomingMessage): boolean {
  if (!headers.host) return false
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) count += 1
  }
  return count === 1
}

/** A public read that can be answered from memory, before the router. */
export interface LiveRead {
  /** The route's pattern, for the metrics. */
  route: string
  /** Null for an address that is not this read's, or for what is not kept. */
  find(url: string): Answer | null
}

interface FastPathOptions {
  cache: LiveCache
  reads: readonly LiveRead[]
  logger: Logger
  observe: ((answered: Answered) => void) | null
}

/** A line for each answer would cost a third of the throughput: of these, one in so many is logged. */
const LOG_ONE_IN = 1_000

/**
 * Answers what is kept before the router sees it: hits cost little more than handing out bytes. Any
 * doubt, also an odd spelling of the address, leaves the request to its route.
 */
export function answerFromMemory(app: App, options: FastPathOptions): void {
  const { cache, reads, logger, observe } = options
  let count = 0

  function tryAnswer(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'GET') return false
    const url = request.url ?? ''
    for (const { route, find } of reads) {
      const answer = find(url)
      if (answer === null) continue
      if (!hasOneHost(request)) return false
      const encoded = cache.findEncoded(answer, request.headers['accept-encoding'])
      if (encoded === undefined) return false
      const began = observe === null ? 0 : performance.now()
      const correlationId = randomUUID()
      const status = write(request, response, { answer, encoded, correlationId })
      observe?.({ route, method: 'GET', status, seconds: (performance.now() - began) / 1_000 })
      count = (count + 1) % LOG_ONE_IN
      if (count === 0) logger.info({ route, method: 'GET', status, sampled: LOG_ONE_IN }, 'request')
      return true
    }
    return false
  }

  // The router's is the first; whoever else listens only watches, and is to see every request.
  const [routed] = app.server.listeners('request') as RequestListener[]
  if (routed === undefined) throw new Error('the server has no router')
  app.server.removeListener('request', routed)
  app.server.prependListener('request', (request, response) => {
    if (!tryAnswer(request, response)) routed.call(app.server, request, response)
  })
}
