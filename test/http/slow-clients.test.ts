import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { ApiError } from '../../src/errors.ts'
import { answerFromMemory } from '../../src/http/live.ts'
import type { ReadPace } from '../../src/http/read-pace.ts'
import type { App } from '../../src/http/route.ts'
import { enforcePace } from '../../src/http/sockets.ts'
import type { LiveCache } from '../../src/platform/live-cache.ts'
import { createLogger } from '../../src/platform/log.ts'
import { Ok, openBareServer } from '../harness/bare-server.ts'
import { until } from '../harness/eventually.ts'
import { requestText } from '../harness/raw-http.ts'
import { ECHO, isRefusal } from '../harness/refusals.ts'

/** The real limits are ten times as long or more; these tests show that limits are enforced. */
const SHORT = { headers: 300, request: 600, check: 50, keepAlive: 400, stall: 2_500, drain: 500 }
/** Node checks its sockets at intervals, and the machine may be busy. */
const GRACE = 20_000

const routes = async (app: App) => {
  app.get('/ping', { schema: { response: { 200: Ok } } }, async () => ({ ok: true }))
  app.post('/echo', { schema: { body: Type.Object({}), response: { 200: Ok } } }, async () => ({
    ok: true,
  }))
  const Big = Type.Object({ text: Type.String() })
  app.get('/big', { schema: { response: { 200: Big } } }, async () => ({
    text: 'x'.repeat(20_000_000),
  }))
}

const openServer = (t: TestContext) => openBareServer(t, routes, { timeouts: SHORT })

interface SlowClient {
  socket: Socket
  received: () => string
  closed: Promise<number>
}

/** Sends a beginning and then one piece after another until the connection closes. */
function sendSlowly(
  t: TestContext,
  url: string,
  beginning: string,
  piece: string,
  everyMs = 40,
): SlowClient {
  const began = performance.now()
  const chunks: Buffer[] = []
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.on('data', (chunk) => chunks.push(chunk))
  if (beginning !== '') socket.write(beginning)
  const timer = piece === '' ? undefined : setInterval(() => socket.write(piece), everyMs)
  // Not by `once`, which rejects at an error: a server that closes the connection may cause one.
  const closed = new Promise<number>((resolve) => {
    socket.on('close', () => {
      clearInterval(timer)
      resolve(performance.now() - began)
    })
  })
  t.after(() => socket.destroy())
  return { socket, received: () => Buffer.concat(chunks).toString(), closed }
}

const HEADERS = 'GET /ping HTTP/1.1\r\nhost: x\r\n'
const BODY = requestText('POST /echo', {
  'content-type': 'application/json',
  'content-length': '100000',
})

function isTimeout(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const headers = Object.fromEntries(
    head.split('\r\n').map((line) => line.split(': ') as [string, string]),
  )
  isRefusal({ status: Number(head.split(' ')[1]), headers, text: body }, 'request_timeout')
}

describe('a slow client is disconnected', { concurrency: true }, () => {
  const cases: [what: string, beginning: string, piece: string, limit: number][] = [
    ['that sends nothing', '', '', SHORT.headers],
    ['that sends its headers slowly', HEADERS, 'a: b\r\n', SHORT.headers],
    ['that sends one header slowly', `${HEADERS}a: `, 'b', SHORT.headers],
    ['that sends its body slowly', BODY, ' ', SHORT.request],
    ['that stops in its body', `${BODY}{"${ECHO}":`, '', SHORT.request],
  ]
  for (const [what, beginning, piece, limit] of cases) {
    test(what, async (t) => {
      const { url } = await openServer(t)
      const slow = sendSlowly(t, url, beginning, piece)
      const ms = await slow.closed
      assert.ok(ms >= limit - 50 && ms < limit + GRACE, `closed after ${ms} ms`)
      isTimeout(slow.received())
    })
  }

  test('disconnects a client that does not read its response', async (t) => {
    const { app, url } = await openServer(t)
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    t.after(() => socket.destroy())
    await once(app.server, 'connection')
    socket.pause()
    socket.write(requestText('GET /big'))
    const count = () =>
      new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
    // At its first check Node still finds what the socket buffers have taken.
    const limit = 2 * SHORT.stall + GRACE
    await until('the connection is gone', async () => (await count()) === 0, limit)
  })

  test('disconnects a client that is idle between two requests, without a response', async (t) => {
    const { url } = await openServer(t)
    const idle = sendSlowly(t, url, requestText('GET /ping', { connection: 'keep-alive' }), '')
    const ms = await idle.closed
    assert.ok(ms >= SHORT.keepAlive - 50 && ms < SHORT.keepAlive + 1_000 + GRACE, `${ms} ms`)
    assert.equal(idle.received().match(/HTTP\/1\.1/g)?.length, 1)
  })
})

async function medianPing(url: string): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 50; n++) {
    const began = performance.now()
    assert.equal((await fetch(`${url}/ping`)).status, 200)
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)[25] ?? 0
}

test('200 slow clients do not delay a healthy one, and all are disconnected', async (t) => {
  const { url } = await openServer(t)
  const alone = await medianPing(url)
  const slow = Array.from({ length: 200 }, (_, n) =>
    // Seldom, since they share the processor with the server.
    n % 2 === 0 ? sendSlowly(t, url, HEADERS, 'a: b\r\n', 200) : sendSlowly(t, url, BODY, ' ', 200),
  )
  await Promise.all(slow.map(({ socket }) => once(socket, 'connect')))
  const amongSlow = await medianPing(url)
  // A server that waited for the slow clients would wait until they are disconnected.
  const most = 3 * alone + SHORT.headers
  assert.ok(amongSlow < most, `a healthy request took ${amongSlow} ms, alone ${alone} ms`)
  for (const ms of await Promise.all(slow.map(({ closed }) => closed))) {
    assert.ok(ms < SHORT.request + 2 * GRACE, `closed after ${ms} ms`)
  }
})

test('a real server has the documented limits', async (t) => {
  const { app } = await openBareServer(t, routes)
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = app.server
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, timeout },
    { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 30_000, timeout: 60_000 },
  )
  assert.equal(app.server.maxRequestsPerSocket, 1_000)
  assert.equal(app.server.maxConnections, 10_000)
})

describe('a body that is limited by its pace', { concurrency: true }, () => {
  /**
   * A piece every 40 ms is a dozen times the required pace, enough for a machine that misses most
   * of them.
   */
  const PACE = { bytes: 200, everyMs: 1_000, atMostMs: 60_000 }
  const open = (t: TestContext, pace = PACE) =>
    openBareServer(
      t,
      async (app) => {
        app.addHook('preParsing', async ({ raw }) => enforcePace(raw, pace))
        await routes(app)
      },
      { timeouts: SHORT },
    )
  const PIECE = ' '.repeat(100)
  const beginning = (length: number) =>
    requestText('POST /echo', {
      'content-type': 'application/json',
      'content-length': String(length),
      connection: 'keep-alive',
    })

  test('may take longer than other bodies while it keeps its pace', async (t) => {
    const { url } = await open(t)
    const began = performance.now()
    const slow = sendSlowly(t, url, `${beginning(4_000)}{}`, PIECE)
    await until('it is answered', () => slow.received().includes('\r\n\r\n'))
    assert.match(slow.received(), /^HTTP\/1\.1 200 /)
    assert.ok(performance.now() - began > 2 * SHORT.request)
  })

  test('is refused when it slows down, or stops', async (t) => {
    const { url } = await open(t)
    for (const piece of [' ', '']) {
      const slow = sendSlowly(t, url, beginning(4_000), piece)
      const ms = await slow.closed
      assert.ok(ms < PACE.everyMs * 2 + GRACE, `closed after ${ms} ms`)
      isTimeout(slow.received())
    }
  })

  test('is refused after its total time, however fast it is', async (t) => {
    const atMostMs = 4_000
    const { url } = await open(t, { ...PACE, atMostMs })
    const slow = sendSlowly(t, url, beginning(100_000), PIECE)
    const ms = await slow.closed
    assert.ok(ms > atMostMs - 100 && ms < atMostMs + GRACE, `closed after ${ms} ms`)
    isTimeout(slow.received())
  })

  test('leaves the usual time limit to the next request on its connection', async (t) => {
    const { url } = await open(t)
    const slow = sendSlowly(t, url, `${beginning(4_002)}{}`, '')
    for (let n = 0; n < 10; n++) {
      await sleep(SHORT.request / 4)
      slow.socket.write(PIECE.repeat(4))
    }
    await until('it is answered', () => slow.received().endsWith('{"ok":true}'))
    const { length } = slow.received()
    slow.socket.write(`${HEADERS}a: `)
    await slow.closed
    isTimeout(slow.received().slice(length))
  })
})

describe('a server that closes', () => {
  test('answers running requests, and does not wait for idle connections to expire', async (t) => {
    const barrier = Promise.withResolvers<void>()
    const { app, url } = await openBareServer(t, async (app) => {
      app.get('/slow', { schema: { response: { 200: Ok } } }, async () => {
        await barrier.promise
        return { ok: true }
      })
    })
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const sent = request(`${url}/slow`, { agent }).end()
    const answered = once(sent, 'response')
    await once(app.server, 'request')
    const began = performance.now()
    const closed = app.close()
    barrier.resolve()
    const [answer] = await answered
    assert.equal(answer.statusCode, 200)
    answer.resume()
    await closed
    // Idle connections expire after thirty seconds.
    assert.ok(performance.now() - began < 25_000)
  })

  test('is not delayed by a request that never ends', async (t) => {
    const { app, url } = await openServer(t)
    const slow = sendSlowly(t, url, BODY, ' ')
    await once(app.server, 'request')
    const began = performance.now()
    await app.close()
    assert.ok(performance.now() - began < SHORT.drain + GRACE)
    await slow.closed
  })
})

describe('a request that waits longer than its connection may be silent', () => {
  test('is answered 503 with a time to try again, and counts as overload', async (t) => {
    const { promise: turn, resolve: start } = Promise.withResolvers<void>()
    const kinds: string[] = []
    const lines: string[] = []
    const { url } = await openBareServer(
      t,
      async (app) => {
        app.get('/ping', { schema: { response: { 200: Ok } } }, async () => ({ ok: true }))
        app.get('/wait', { schema: { response: { 200: Ok } } }, async () => {
          await turn
          return { ok: true }
        })
      },
      {
        timeouts: SHORT,
        onFailure: (kind) => kinds.push(kind),
        logger: createLogger('warn', { write: (line: string) => void lines.push(line) }),
      },
    )
    const answer = await fetch(`${url}/wait`)
    const body = (await answer.json()) as { error: { code: string } }
    assert.deepEqual([answer.status, body.error.code], [503, 'service_unavailable'])
    assert.equal(answer.headers.get('retry-after'), '2')
    assert.equal(answer.headers.get('connection'), 'close')
    assert.deepEqual(kinds, ['overload'])
    assert.equal(JSON.parse(lines[0] ?? '{}').level, 40, 'not an error that somebody must act on')
    start()
    assert.equal((await fetch(`${url}/ping`)).status, 200, 'the late end of the wait does no harm')
  })

  test('a request that waits before the router is answered 503 with a time to try again, and its late turn does no harm', async (t) => {
    const { app, url } = await openBareServer(t, routes, { timeouts: SHORT })
    const response = { status: 200, headers: {}, body: Buffer.from('late') }
    const starts: (() => void)[] = []
    answerFromMemory(app, {
      cache: {
        findByAddress: (path: string) => (path === '/kept' ? { response, route: path } : null),
        findEncoded: () => null,
      } as unknown as LiveCache,
      reads: [],
      logger: createLogger('silent'),
      pace: {
        take: () => false,
        defer: (_read: unknown, _request: unknown, { start }: { start: () => void }) =>
          starts.push(start),
        addBytes: () => {},
      } as unknown as ReadPace,
      count: null,
    })
    const answer = await fetch(`${url}/kept`)
    const body = (await answer.json()) as { error: { code: string } }
    assert.deepEqual([answer.status, body.error.code], [503, 'service_unavailable'])
    assert.equal(answer.headers.get('retry-after'), '2')
    assert.ok(answer.headers.get('x-correlation-id'))
    for (const start of starts) start()
    assert.equal((await fetch(`${url}/ping`)).status, 200)
  })

  test('an overload counts as overload, and an outage as outage, also when another failure hides it', async (t) => {
    const kinds: string[] = []
    const fail = (cause: Error) => async () => {
      throw new ApiError('auth_unavailable', { cause })
    }
    const { url } = await openBareServer(
      t,
      async (app) => {
        const options = {
          config: { failures: ['auth_unavailable' as const] },
          schema: { response: { 200: Ok } },
        }
        const busy = new ApiError('service_unavailable', { kind: 'overload' })
        app.get('/busy', options, fail(busy))
        const lost = Object.assign(new Error('terminated'), { code: '57P01' })
        app.get('/lost', options, fail(new ApiError('db_error', { cause: lost })))
        app.get('/bug', options, fail(new Error('oops')))
      },
      { onFailure: (kind) => kinds.push(kind) },
    )
    for (const path of ['busy', 'lost', 'bug']) {
      const { status, headers } = await fetch(`${url}/${path}`)
      assert.deepEqual([status, headers.get('retry-after')], [503, '2'])
    }
    assert.deepEqual(kinds, ['overload', 'outage', 'bug'])
  })
})
