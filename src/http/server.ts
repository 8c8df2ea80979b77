import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { ApiError, type ErrorCode } from '../errors.ts'
import { sharedShapes } from '../kernel/schema.ts'
import { acceptOnlyJson } from './body.ts'
import { rawErrorResponse, sendError, toApiError } from './errors.ts'
import { type App, allFailures, keepRouteTable } from './route.ts'

const SECOND = 1_000

/** A request line, with its path and query. Node's own bound on all headers together is 16 KiB. */
const URL_LENGTH_MAX = 8_000

export interface ServerOptions {
  logger: Logger
  /** Proxies whose x-forwarded-for is believed. None: the peer's own address counts. */
  trustProxy: readonly string[]
  bodyLimitBytes?: number
  /** Told of a code that the route did not declare. Tests make it a failure. */
  onUndeclared?: (route: string, code: ErrorCode) => void
}

/** A bare server: timeouts, strict bodies, one error shape at every door, and no route yet. */
export function createServer(options: ServerOptions): App {
  const app = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    // Each answer is logged once, by its route's pattern; see metrics.ts.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    bodyLimit: options.bodyLimitBytes ?? 1_048_576,
    // A slow client may not hold a socket: its whole request has to arrive within these.
    requestTimeout: 10 * SECOND,
    keepAliveTimeout: 30 * SECOND,
    maxRequestsPerSocket: 1_000,
    http: {
      headersTimeout: 5 * SECOND,
      connectionsCheckingInterval: SECOND,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: URL_LENGTH_MAX, ignoreTrailingSlash: false },
    // A close waits for what is in flight; idle connections end at once.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: true,
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        useDefaults: false,
        allErrors: false,
        strict: true,
        strictTypes: false,
      },
    },
    frameworkErrors: (error, request, reply) => {
      nameCorrelation(request, reply)
      return sendError(request, reply, toApiError(error))
    },
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.server.maxConnections = 10_000
  app.server.on('checkExpectation', answerExpectation)
  acceptOnlyJson(app)
  keepRouteTable(app)
  for (const shape of sharedShapes()) app.addSchema(shape)
  app.addHook('onRequest', async (request, reply) => {
    nameCorrelation(request, reply)
    refuseOddRequest(request)
  })
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown)
    report(request, error, options)
    return sendError(request, reply, error)
  })
  app.setNotFoundHandler((request, reply) => sendError(request, reply, whatIsMissing(app, request)))
  return app
}

function nameCorrelation(request: FastifyRequest, reply: FastifyReply) {
  reply.header('x-correlation-id', request.id)
}

function refuseOddRequest({ raw }: FastifyRequest) {
  if (raw.httpVersion !== '1.0' && !raw.headers.host) throw new ApiError('invalid_request')
  if ((raw.url?.length ?? 0) > URL_LENGTH_MAX) throw new ApiError('uri_too_long')
  // PostgreSQL has no text with U+0000 in it, so nothing can ever be found by one.
  if (raw.url?.includes('%00')) throw new ApiError('invalid_request')
}

/** Our own failures are logged with their cause; a refusal is only counted. */
function report(request: FastifyRequest, error: ApiError, { onUndeclared }: ServerOptions) {
  const { config, schema, url, method } = request.routeOptions
  if (error.code === 'service_unavailable') {
    request.log.error({ err: error.cause, route: url }, 'a request failed')
  }
  if (!onUndeclared || url === undefined) return
  const declared = allFailures({ config, ...(schema === undefined ? {} : { schema }) })
  const beforeRoute: ErrorCode[] = ['invalid_request', 'uri_too_long']
  if ([...declared, ...beforeRoute].includes(error.code)) return
  onUndeclared(`${method} ${url}`, error.code)
}

const BROKEN: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** What came was no HTTP, or took too long. There is no request to answer, only a socket. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
  socket.end(rawErrorResponse(BROKEN[error.code ?? ''] ?? 'invalid_request', randomUUID()))
  // Whoever sent garbage may not read either; the socket goes in any case.
  setTimeout(() => socket.destroy(), SECOND).unref()
  return socket
}

function answerExpectation(this: Server, _request: IncomingMessage, response: ServerResponse) {
  response.socket?.end(rawErrorResponse('expectation_failed', randomUUID()))
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** A path that other methods have answers 405 and names them; any other is no route. */
function whatIsMissing(app: App, request: FastifyRequest): ApiError {
  const path = request.url.split('?', 1)[0] ?? ''
  const allowed = METHODS.filter((method) =>
    app.routeTable.some((route) => {
      const serves = route.method === method || (method === 'HEAD' && route.method === 'GET')
      return serves && matches(route.url, path)
    }),
  )
  if (allowed.length === 0) return new ApiError('route_not_found')
  return new ApiError('method_not_allowed', { headers: { allow: allowed.join(', ') } })
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, i) => (part.startsWith(':') ? given[i] !== '' : part === given[i]))
  )
}
