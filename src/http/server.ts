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
import type { TenantDb } from '../db/database.ts'
import type { ErrorCode } from '../error-codes.ts'
import { ApiError, causesOf, errorBody, type FailureKind } from '../errors.ts'
import { isUuid, sharedShapes } from '../kernel/schema.ts'
import { indexMethods } from './allowed-methods.ts'
import { acceptOnlyJson } from './body.ts'
import { warnOfUnnamedProxy } from './caller-address.ts'
import { refuseCardNumbers } from './card-text.ts'
import { checkFilters } from './check-filters.ts'
import { isOfPage, NO_PAGE, sendErrorPage, wantsNoPage } from './error-pages.ts'
import { sendError, toApiError } from './errors.ts'
import { listFaults } from './faults.ts'
import { nameIgnored } from './ignored-members.ts'
import { dropUnknownMembers } from './known-members.ts'
import { lazyCompilers, type SchemaController } from './lazy-compilers.ts'
import { countHosts, repeatsCredential } from './repeated-headers.ts'
import { type App, allFailures, collectRoutes } from './route.ts'
import { headersOf, SAFE_HEADERS } from './safe-headers.ts'
import { answerBrokenRequest, answerStalled, drainOnClose, watchSockets } from './sockets.ts'

const SECOND = 1_000

/**
 * The longest URL, with its path and query. Node's own limit for all headers together is 16 KiB.
 */
const URL_LENGTH_MAX = 8_000

/** The longest path with escapes that a route can have: a reference of 200 characters, each of up to twelve. */
const ESCAPED_LENGTH_MAX = 2_600

/** The paths that replace a longer path with escapes, and a longer URL. No caller can send a space in one. */
const NO_PATH = '/ no such path'
const TOO_LONG = '/ too long'

/**
 * Replaces a long path with escapes before the router sees it: the router would decode all of it to find that no
 * route has it.
 */
function boundPath(url: string): string {
  if (url.length <= ESCAPED_LENGTH_MAX) return url
  if (url.length > URL_LENGTH_MAX) return TOO_LONG
  const [path = ''] = url.split('?', 1)
  return path.length > ESCAPED_LENGTH_MAX && path.includes('%') ? NO_PATH : url
}

/** Limits for slow clients, in milliseconds. */
const TIMEOUTS = {
  /** From the first byte, or from the connection, to the end of the headers. */
  headers: 5 * SECOND,
  /** From the end of the headers to the end of the body. */
  request: 10 * SECOND,
  /** How often the limits for headers and for the body are checked. */
  check: SECOND,
  /** The longest pause between two requests. */
  keepAlive: 30 * SECOND,
  /** The longest time without a byte in either direction: the client does not read its response. */
  stall: 60 * SECOND,
  /** How long running requests have to finish when the server closes. */
  drain: 10 * SECOND,
}

export interface ServerOptions {
  logger: Logger
  /** The proxies whose x-forwarded-for is trusted. Without any, the peer's own address counts. */
  trustProxy: readonly string[]
  bodyLimitBytes?: number
  timeouts?: Partial<typeof TIMEOUTS>
  /** Called for each response with a 5xx status. */
  onFailure?: ((kind: FailureKind) => void) | undefined
  /** How shapes are compiled. Tests, which build the same app many times, reuse compiled ones. */
  schemaController?: SchemaController
  /** Called when a route answers with a code that it does not declare. Tests fail on it. */
  onUndeclared?: (route: string, code: ErrorCode) => void
}

/** Registers the shapes that routes refer to by their name. Called again once more routes are loaded. */
export function shareShapes(app: App): void {
  const known = app.getSchemas()
  for (const shape of sharedShapes()) {
    const { $id } = shape as { $id?: string }
    if ($id === undefined || !(`${$id}` in known)) app.addSchema(shape)
  }
}

/** Creates a server without routes: timeouts, strict bodies, and one error shape everywhere. */
export function createServer(options: ServerOptions): App {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  const app = fastify({
    loggerInstance: options.logger as FastifyBaseLogger,
    // Each response is logged once, by its route's pattern; see access-log.ts.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    // The few log lines of a request contain its id themselves: a logger for each request would cost more.
    childLoggerFactory: (logger) => logger,
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    bodyLimit: options.bodyLimitBytes ?? 1_048_576,
    requestTimeout: timeouts.request,
    // Routes are set up during the start, which on a slow machine may take longer than the ten
    // seconds after which the framework would give up.
    pluginTimeout: 120_000,
    keepAliveTimeout: timeouts.keepAlive,
    connectionTimeout: timeouts.stall,
    maxRequestsPerSocket: 1_000,
    http: {
      headersTimeout: timeouts.headers,
      connectionsCheckingInterval: timeouts.check,
      requireHostHeader: false,
    },
    rewriteUrl: ({ url = '' }) => boundPath(url),
    routerOptions: { maxParamLength: URL_LENGTH_MAX, ignoreTrailingSlash: false },
    schemaController: options.schemaController ?? lazyCompilers(),
    // A close waits for running requests; idle connections end at once.
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
      // The default format also accepts `urn:uuid:`, which is not an id to PostgreSQL.
      onCreate: (ajv) => ajv.addFormat('uuid', isUuid),
    },
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      return sendError(request, reply, toApiError(error))
    },
    clientErrorHandler: answerBrokenRequest,
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.server.maxConnections = 10_000
  watchSockets(app.server)
  warnOfUnnamedProxy(app.server, options.trustProxy, options.logger)
  drainOnClose(app, timeouts.drain)
  acceptOnlyJson(app)
  collectRoutes(app)
  nameIgnored(app)
  dropUnknownMembers(app)
  refuseCardNumbers(app)
  checkFilters(app)
  shareShapes(app)
  let methodsOf: ((path: string) => string[]) | null = null
  const stalled = answerStalled(app.server)
  app.addHook('onRequest', async (request, reply) => {
    stalled.set(request.raw.socket, reply)
    setCommonHeaders(request, reply)
    refuseOddRequest(request)
    // The method is checked here, because the framework reads a body even where no route accepts it.
    if (!request.is404) return
    methodsOf ??= indexMethods(app.routeTable)
    const allowed = methodsOf(request.url.split('?', 1)[0] ?? '')
    if (allowed.length === 0) return answerNoRoute(request, reply)
    throw new ApiError('method_not_allowed', { headers: { allow: allowed.join(', ') } })
  })
  app.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown, request.raw, () => listFaults(request))
    report(request, error, options)
    const pacing = paceOf(request, error)
    const send = (sent: ApiError) =>
      isOfPage(request) ? sendErrorPage(reply, sent) : sendError(request, reply, sent)
    if (pacing === null) return send(error)
    return pacing.then(() => send(error), send)
  })
  return app
}

/** Refusals that most often come before any work in the database. */
const CHEAP_REFUSALS = [400, 403, 404, 413, 415, 429]

/**
 * Paces a refusal. A store's work in the database is paced, and so are its refusals: a thousand of them a second would
 * take half of the process from the other stores. Returns null if this refusal need not wait.
 */
function paceOf({ db }: FastifyRequest, { status }: ApiError): Promise<void> | null {
  const opened = db as TenantDb | undefined
  return opened === undefined || !CHEAP_REFUSALS.includes(status) ? null : opened.pace()
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply) {
  reply.header('x-correlation-id', request.id).headers(headersOf(request.routeOptions.config))
}

function refuseOddRequest({ raw }: FastifyRequest) {
  const hosts = countHosts(raw.rawHeaders)
  if (hosts > 1 || (raw.httpVersion !== '1.0' && !raw.headers.host)) {
    throw new ApiError('invalid_request')
  }
  if (repeatsCredential(raw.rawHeaders)) throw new ApiError('invalid_request')
  if (raw.url === TOO_LONG) throw new ApiError('uri_too_long')
  // PostgreSQL has no text with U+0000, so no row can ever match.
  if (raw.url?.includes('%00')) throw new ApiError('invalid_request')
}

/**
 * Who must act on a failure: as the error says, or else the first of its causes that says it, such as an overload that
 * left a key unread.
 */
function kindOf(error: ApiError): FailureKind {
  const causes = causesOf(error)
  const told = causes.find((each) => each instanceof ApiError && each.kind !== undefined)
  if (told instanceof ApiError && told.kind !== undefined) return told.kind
  return causes.some(isOutage) ? 'outage' : 'bug'
}

/**
 * Logs a failure with its cause, as an error when an operator or developer must act; a refusal is
 * only counted.
 */
function report(request: FastifyRequest, error: ApiError, options: ServerOptions) {
  const { onUndeclared, onFailure } = options
  const { config, url, method, schema } = request.routeOptions
  if (error.status >= 500) {
    const { cause, code } = error
    const kind = kindOf(error)
    onFailure?.(kind)
    const level = kind === 'bug' || kind === 'outage' ? 'error' : 'warn'
    const fields = { reqId: request.id, err: cause, code, route: url, kind }
    request.log[level](fields, 'a request failed')
  }
  if (!onUndeclared || url === undefined) return
  const declared = allFailures({ config, method: request.method, ...(schema && { schema }) })
  const beforeRoute: ErrorCode[] = ['invalid_request', 'uri_too_long']
  if ([...declared, ...beforeRoute].includes(error.code)) return
  onUndeclared(`${method} ${url}`, error.code)
}

/** The body of the answer for an unknown path: a text, which is sent in one piece with the headers. */
const NO_ROUTE_TEXT = errorBody(new ApiError('route_not_found'))
const NO_ROUTE = {
  text: NO_ROUTE_TEXT,
  headers: {
    ...SAFE_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(NO_ROUTE_TEXT),
  },
}

/** Answers 404 without the framework: any program can send thousands of unknown paths a second. */
function answerNoRoute(request: FastifyRequest, reply: FastifyReply): void {
  const { headers, text } = wantsNoPage(request) ? NO_PAGE : NO_ROUTE
  reply.hijack()
  reply.raw.writeHead(404, { ...headers, 'x-correlation-id': request.id })
  reply.raw.end(request.method === 'HEAD' ? undefined : text)
}
