import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, ERRORS, type ErrorCode, errorBody } from '../errors.ts'
import type { App } from './route.ts'

/** The answer to the request that came last on a socket. */
const latest = new WeakMap<Duplex, ServerResponse>()
/** Sockets on which something was not HTTP. Whatever else arrives there is not looked at. */
const broken = new WeakSet<Duplex>()

/** The doors that are not routes: what Node would answer by itself, in another shape than ours. */
export function watchSockets(server: Server): void {
  server.on('request', (request, response) => latest.set(request.socket, response))
  server.on('checkExpectation', answerExpectation)
  // A tunnel's target is no path of ours.
  server.on('connect', (_request, socket) => {
    // Node has let go of this socket: a reset that nobody hears would end the process.
    socket.on('error', () => socket.destroy())
    endWith(socket, 'invalid_request')
  })
}

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const BROKEN: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  [TIMEOUT]: 'request_timeout',
}

/** What came was no HTTP, or took too long. There is no request to answer, only a socket. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (broken.has(socket)) return
  // Node says so once for each request; from here on its own pace is what bounds this one.
  if (error.code === TIMEOUT && paced.has(socket)) return
  broken.add(socket)
  const answer = latest.get(socket)
  const code = BROKEN[error.code ?? ''] ?? 'invalid_request'
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (answer === undefined || answer.writableFinished) endWith(socket, code)
  // A good request came before. Its answer must not be mistaken for this one, nor this one for it.
  else if (answer.req.complete) answer.once('close', () => endWith(socket, code))
  // It is the body of the latest request that is broken: it was answered early, or is not yet first.
  else if (answer.headersSent || answer.socket === null) socket.destroy()
  else endWith(socket, code)
}

/** How a large body may come over a slow line: so much in each span of time, and all of it in a bound. */
export interface Pace {
  bytes: number
  everyMs: number
  atMostMs: number
}

/** Sockets on which a body comes at a pace of its own, and not within the time of any request. */
const paced = new WeakSet<Duplex>()

/** Bounds a request's body by its pace, from here on and in place of the time that others have. */
export function keepPace(request: IncomingMessage, { bytes, everyMs, atMostMs }: Pace): void {
  const { socket } = request
  const began = performance.now()
  let before = socket.bytesRead
  const stop = () => {
    clearInterval(timer)
    paced.delete(socket)
  }
  const timer = setInterval(() => {
    const came = socket.bytesRead - before
    before = socket.bytesRead
    if (came >= bytes && performance.now() - began < atMostMs) return
    stop()
    answerBrokenRequest(Object.assign(new Error('too slow'), { code: TIMEOUT }), socket)
  }, everyMs).unref()
  paced.add(socket)
  request.once('end', stop)
  request.once('close', stop)
}

/** How long a caller that sent no HTTP has to take its answer. */
const FAREWELL_MS = 1_000

function endWith(socket: Duplex, code: ErrorCode): void {
  if (socket.writable) socket.end(rawErrorResponse(code))
  // Whoever sent garbage may not read either; the socket goes in any case.
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref()
}

/** A whole HTTP answer, for a socket on which no request could be read. */
function rawErrorResponse(code: ErrorCode): string {
  const [status] = ERRORS[code]
  const body = errorBody(new ApiError(code))
  const headers = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${status} ${code}`, ...headers, '', body].join('\r\n')
}

const headersOf = (body: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
  'x-correlation-id': randomUUID(),
  connection: 'close',
})

function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const error = new ApiError('expectation_failed')
  const body = errorBody(error)
  response.writeHead(error.status, headersOf(body)).end(body)
}

/**
 * Ends every connection when `drainMs` of a close are over. The idle ones end by themselves, but Node
 * no longer looks for slow clients then, and one of them could hold up the close for good.
 */
export function drainOnClose(app: App, drainMs: number): void {
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    timer = setTimeout(() => app.server.closeAllConnections(), drainMs).unref()
  })
  app.addHook('onClose', async () => clearTimeout(timer))
}
