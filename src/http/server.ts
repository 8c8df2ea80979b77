import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { isOutage } from '../db/constraints.ts'
import { ApiError, type ErrorCode, type FailureKind } from '../errors.ts'
import { isUuid, sharedShapes } from '../kernel/schema.ts'
import { acceptOnlyJson } from './body.ts'
import { warnOfUnnamedProxy } from './caller-address.ts'
import { sendError, toApiError } from './errors.ts'
import { countHosts } from './hosts.ts'
import { type App, allFailures, keepRouteTable } from './route.ts'
import { lazySerializers, type SchemaController } from './serializers.ts'
import { answerBrokenRequest, drainOnClose, watchSockets } from './sockets.ts'

const SECOND = 1_000

/** A request line, with its path and query. Node's own bound on all headers together is 16 KiB. */
const URL_LENGTH_MAX = 8_000

/** A slow client may not hold a socket. Each is in milliseconds. */
const TIMEOUTS = {
  /** From the first byte, or from the connection, to the end of the headers. */
  headers: 5 * SECOND,
  /** From there to the end of the body. */
  request: 10 * SECOND,
  /** How often the two are looked at. */
  check: SECOND,
  /** Between two requests. */
  keepAlive: 30 * SECOND,
  /** Without a byte in either direction: a client that does not take its answer. */
  stall: 60 * SECOND,
  /** What is in flight has this long to finish when the server closes. */
  drain: 10 * SECOND,
}

export interface ServerOptions {
  logger: Logger
  /** Proxies whose x-forwarded-for is believed. None: the peer's own address counts. */
  trustProxy: readonly string[]
  bodyLimitBytes?: number
  timeouts?: Partial<typeof TIMEOUTS>
  /** Told of each answer that is a failure. */
  onFailure?: ((kind: FailureKind) => void) | undefined
  /** How shapes become code. Tests, which build the same app many times, keep what was made. */
  schemaController?: SchemaController
  /** Told of a code that the route did not declare. Tests make it a failure. */
  onUndeclared?: (route: string, code: ErrorCode) => void
}

/** A bare server: timeouts, strict bodies, one error shape at every door, and no route yet. */
export function createServer(options: ServerOptions): App {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const app = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    // Each answer is logged once, by its route's pattern; see metrics.ts.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // The few lines that a request logs name its id themselves: a logger for each would cost more.
    childLoggerFactory: (logger) => logger,
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    bodyLimit: options.bodyLimitBytes ?? 1_048_576,
    requestTimeout: timeouts.request,
    // Routes are compiled while it starts, which on a slow machine takes longer than the ten seconds
    // after which it would give itself up.
    pluginTimeout: 120_000,
    keepAliveTimeout: timeouts.keepAlive,
    connectionTimeout: timeouts.stall,
    maxRequestsPerSocket: 1_000,
    http: {
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.check,
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: URL_LENGTH_MAX, ignoreTrailingSlash: false },
    schemaController: options.schemaController ?? lazySerializers(),
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
      // Its own takes `urn:uuid:` as well, which is no id to PostgreSQL.
      onCreate: (ajv) => ajv.addFormat('uuid', isUuid),
    },
    frameworkErrors: (error, request, reply) => {
      nameCorrelation(request, reply)
      return sendError(request, reply, toApiError(error))
    },
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.server.maxConnections = 10_000
  watchSockets(app.server)
  warnOfUnnamedProxy(app.server, options.trustProxy, options.logger)
  drainOnClose(app, timeouts.drain)
  acceptOnlyJson(app)
  keepRouteTable(app)
  for (const shape of sharedShapes()) app.addSchema(shape)
  app.addHook('onRequest', async (request, reply) => {
    nameCorrelation(request, reply)
    refuseOddRequest(request)
    // Here, because the framework reads a body even where there is no route to take it.
    if (request.is404) throw whatIsMissing(app, request)
  })
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown, request.raw)
    report(request, error, options)
    return sendError(request, reply, error)
  })
  return app
}

function nameCorrelation(request: FastifyRequest, reply: FastifyReply) {
  reply.header('x-correlation-id', request.id)
}

function refuseOddRequest({ raw }: FastifyRequest) {
  const hosts = countHosts(raw.rawHeaders)
  if (hosts > 1 || (raw.httpVersion !== '1.0' && !raw.headers.host)) {
    throw new ApiError('invalid_request')
  }
  if ((raw.url?.length ?? 0) > URL_LENGTH_MAX) throw new ApiError('uri_too_long')
  // PostgreSQL has no text with U+0000 in it, so nothing can ever be found by one.
  if (raw.url?.includes('%00')) throw new ApiError('invalid_request')
}

/** A failure is logged with its cause, as loud as somebody must look at it; a refusal is only counted. */
function report(request: FastifyRequest, error: ApiError, options: ServerOptions) {
  const { onUndeclared, onFailure } = options
  const { config, url, method } = request.routeOptions
  if (error.status >= 500) {
    const { cause, code, kind = isOutage(cause) ? 'outage' : 'bug' } = error
    onFailure?.(kind)
    const level = kind === 'bug' || kind === 'outage' ? 'error' : 'warn'
    const fields = { reqId: request.id, err: cause, code, route: url, kind }
    request.log[level](fields, 'a request failed')
  }
  if (!onUndeclared || url === undefined) return
  const declared = allFailures({ config, method: request.method })
  const beforeRoute: ErrorCode[] = ['invalid_request', 'uri_too_long']
  if ([...declared, ...beforeRoute].includes(error.code)) return
  onUndeclared(`${method} ${url}`, error.code)
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
