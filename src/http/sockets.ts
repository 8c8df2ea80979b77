import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { SharedCode } from '../error-codes.ts'
import { ApiError, errorBody } from '../errors.ts'
import type { App } from './route.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

/** The response to the latest request on each socket. */
const latestResponses = new WeakMap<Duplex, ServerResponse>()
/** Sockets that received something other than HTTP. All bytes that arrive there later are ignored. */
const brokenSockets = new WeakSet<Duplex>()

/** Answers requests that reach no route. Node alone would answer them in another shape than ours. */
export function watchSockets(server: Server): void {
  server.on('request', (request, response) => latestResponses.set(request.socket, response))
  server.on('checkExpectation', answerExpectation)
  // A CONNECT request names no path of this API.
  server.on('connect', (_request, socket) => {
    // Node no longer handles this socket: without a listener, a reset would end the process.
    socket.on('error', () => socket.destroy())
    endWith(socket, 'invalid_request')
  })
}

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const BROKEN: Record<string, SharedCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  [TIMEOUT]: 'request_timeout',
}

/** Answers a client whose bytes are not HTTP, or took too long. There is no request to answer, only a socket. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (brokenSockets.has(socket)) return
  // Node reports this once for each request; since `enforcePace`, the pace limits this request instead.
  if (error.code === TIMEOUT && pacedSockets.has(socket)) return
  brokenSockets.add(socket)
  const answer = latestResponses.get(socket)
  const code = BROKEN[error.code ?? ''] ?? 'invalid_request'
  if (error.code === 'ECONNRESET') socket.destroy()
  else if (answer === undefined || answer.writableFinished) endWith(socket, code)
  // A valid request came before. The answer to it and this answer must not be mistaken for each other.
  else if (answer.req.complete) answer.once('close', () => endWith(socket, code))
  // The body of the latest request is broken: that request was answered early, or waits for the answers to others.
  else if (answer.headersSent || answer.socket === null) socket.destroy()
  else endWith(socket, code)
}

/** After how many seconds the caller of a request that was never routed tries again. */
const RETRY_SECONDS = '2'

/**
 * Answers a request that has waited until its connection timed out, for its turn or for a resource: a closed connection
 * would look like a crash, and its caller would not know when to try again. Returns the latest replies by their
 * sockets; a request without a reply still waits before the router. Connections that wait for the client are closed.
 * The keys are sockets and not responses, since an entry for each response would cost the garbage collector more than
 * the request does.
 */
export function answerStalled(server: Server): WeakMap<Duplex, FastifyReply> {
  const replies = new WeakMap<Duplex, FastifyReply>()
  server.on('timeout', (socket: Duplex) => {
    const response = latestResponses.get(socket)
    const isWaiting = response?.req.complete === true && !response.headersSent
    if (!isWaiting) return socket.destroy()
    const reply = replies.get(socket)
    if (reply?.raw !== response) return answerUnrouted(response)
    if (reply.sent) return socket.destroy()
    const cause = new Error('the request waited until its connection timed out')
    reply.header('connection', 'close')
    reply.send(new ApiError('service_unavailable', { kind: 'overload', cause }))
  })
  return replies
}

function answerUnrouted(response: ServerResponse): void {
  const error = new ApiError('service_unavailable')
  const body = errorBody(error)
  const headers = { ...headersOf(body), 'retry-after': RETRY_SECONDS }
  response.writeHead(error.status, headers).end(body)
}

/** The minimum speed of a large body: so many bytes in each interval, and a limit for the whole. */
export interface Pace {
  bytes: number
  everyMs: number
  atMostMs: number
}

/** Sockets whose body is limited by its pace, and not by the usual time limit of requests. */
const pacedSockets = new WeakSet<Duplex>()

/** Limits a request's body by its pace from here on, instead of by the usual time limit. */
export function enforcePace(request: IncomingMessage, { bytes, everyMs, atMostMs }: Pace): void {
  const { socket } = request
  const began = performance.now()
  let before = socket.bytesRead
  const stop = () => {
    clearInterval(timer)
    pacedSockets.delete(socket)
  }
  const timer = setInterval(() => {
    const received = socket.bytesRead - before
    before = socket.bytesRead
    if (received >= bytes && performance.now() - began < atMostMs) return
    stop()
    answerBrokenRequest(Object.assign(new Error('too slow'), { code: TIMEOUT }), socket)
  }, everyMs).unref()
  pacedSockets.add(socket)
  request.once('end', stop)
  request.once('close', stop)
}

/** Returns a signal that is aborted when the caller closes the connection before the answer is sent. */
export function signalOfClose(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const end = () => {
    // The caller does not read this answer any more; its status is for the log.
    const gone = new ApiError('request_timeout', { message: 'The caller closed the connection.' })
    if (!response.writableFinished) controller.abort(gone)
  }
  if (response.closed) end()
  else response.once('close', end)
  return controller.signal
}

/** How long a client that did not send HTTP has to read its answer. */
const CLOSE_AFTER_MS = 1_000

function endWith(socket: Duplex, code: SharedCode): void {
  if (socket.writable) socket.end(rawErrorResponse(code))
  // A client that sends garbage may not read either; the socket is closed in any case.
  setTimeout(() => socket.destroy(), CLOSE_AFTER_MS).unref()
}

/** A complete HTTP response, for a socket on which no request could be read. */
function rawErrorResponse(code: SharedCode): string {
  const error = new ApiError(code)
  const body = errorBody(error)
  const headers = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${error.status} ${code}`, ...headers, '', body].join('\r\n')
}

const headersOf = (body: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
  'x-correlation-id': randomUUID(),
  ...SAFE_HEADERS,
  connection: 'close',
})

function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const error = new ApiError('expectation_failed')
  const body = errorBody(error)
  response.writeHead(error.status, headersOf(body)).end(body)
}

/** How often a closing server looks for connections that have become idle. */
const LOOK_MS = 50

/**
 * How long a closing server goes on accepting connections while requests still arrive. Node accepts connections one at
 * a time between other work, so that a hundred at once take a busy process more than a second.
 */
const ACCEPT_MS = 3_000

/**
 * Makes a closing server answer requests that were sent before the close. Requests that the system has received and the
 * server has not read yet would otherwise be reset, and a page that is being rendered could no longer ask the platform
 * for data. So the server goes on listening until it is quiet; each answer tells the client to use another connection.
 * Connections are closed as they become idle, and all of them after `drainMs`: Node no longer checks for slow clients
 * then, and one of them could delay the close for ever.
 */
export function drainOnClose(app: App, drainMs: number): void {
  const timers: NodeJS.Timeout[] = []
  const quiet = watchQuiet(app.server)
  app.addHook('preClose', async () => {
    timers.push(setTimeout(() => app.server.closeAllConnections(), drainMs).unref())
    await quiet()
    timers.push(setInterval(() => app.server.closeIdleConnections(), LOOK_MS).unref())
  })
  app.addHook('onClose', async () => timers.forEach(clearTimeout))
}

/**
 * Counts the running requests of a server. Returns a function that waits until none runs and none has arrived for a
 * moment, but not longer than ACCEPT_MS.
 */
function watchQuiet(server: Server): () => Promise<void> {
  let running = 0
  let arrived = 0
  const end = () => {
    running--
  }
  server.on('connection', () => {
    arrived++
  })
  server.on('request', (_request, response) => {
    running++
    response.once('close', end)
  })
  return async () => {
    const until = performance.now() + ACCEPT_MS
    let before = -1
    while ((running > 0 || arrived > before) && server.listening && performance.now() < until) {
      before = arrived
      await sleep(LOOK_MS)
      // A busy process may not have looked for new connections when the sleep ends.
      await turn()
    }
  }
}
