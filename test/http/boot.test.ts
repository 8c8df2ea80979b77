import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { Type } from 'typebox'
import { ApiError } from '../../src/errors.ts'
import { decorateRequests, onPlane } from '../../src/http/guards.ts'
import type { App, Plane, Routes } from '../../src/http/route.ts'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/platform/log.ts'
import { openTestApp } from '../harness/app.ts'
import { Ok, openBareServer } from '../harness/bare-server.ts'
import { until } from '../harness/eventually.ts'
import { requestText } from '../harness/raw-http.ts'
import { isRefusal } from '../harness/refusals.ts'
import { share } from '../harness/scope.ts'

describe('a route that declares too little stops the start', () => {
  async function start(plane: Plane | null, routes: Routes) {
    const app: App = createServer({ logger: pino({ level: 'silent' }), trustProxy: [] })
    decorateRequests(app)
    await app.register(plane === null ? routes : onPlane(plane, null, [routes]))
    await app.ready()
  }

  const withOk = { schema: { response: { 200: Ok } } }
  const answer = async () => ({ ok: true })

  test('without a plane', async () => {
    const open: Routes = async (app) => void app.get('/open', withOk, answer)
    await assert.rejects(start(null, open), { message: 'GET /open declares no authorisation' })
  })

  test('on the merchant plane without a scope', async () => {
    const unscoped: Routes = async (app) => void app.post('/unscoped', withOk, answer)
    const message = 'POST /unscoped declares no scope'
    await assert.rejects(start('merchant', unscoped), { message })
  })

  test('without the shape of its success', async () => {
    const silent: Routes = async (app) => void app.put('/silent', answer)
    const message = 'PUT /silent declares no response schema'
    await assert.rejects(start('public', silent), { message })
    const refusing: Routes = async (app) =>
      void app.get('/refusing', { schema: { response: { 400: Ok } } }, answer)
    await assert.rejects(start('public', refusing), /GET \/refusing declares no response schema/)
  })

  test('a route that declares everything lets the server start', async () => {
    const scoped: Routes = async (app) =>
      void app.get('/scoped', { config: { scope: 'any' }, ...withOk }, answer)
    await start('merchant', scoped)
  })
})

describe('any error that a handler throws is 503, and only the log has its cause', () => {
  const SECRET = 'what really happened'
  const thrown: Record<string, () => unknown> = {
    'an Error': () => new Error(SECRET),
    'a text': () => SECRET,
    undefined: () => undefined,
    null: () => null,
    'a number': () => 404,
    'an object with a status': () => ({ statusCode: 418, message: SECRET }),
    'an Error with a status': () => Object.assign(new Error(SECRET), { statusCode: 404 }),
    "PostgreSQL's error": () =>
      Object.assign(new Error(SECRET), { code: '23505', constraint: 'a_key', detail: SECRET }),
    'a lost connection': () => Object.assign(new Error(SECRET), { code: 'ECONNRESET' }),
  }
  for (const plane of ['public', 'merchant'] as const) {
    for (const [name, make] of Object.entries(thrown)) {
      test(`${name} on the ${plane} plane`, async (t) => {
        const lines: string[] = []
        const logger = createLogger('error', { write: (line: string) => void lines.push(line) })
        const { url } = await openBareServer(
          t,
          async (app) => {
            const options = { config: { scope: 'any' as const }, schema: { response: { 200: Ok } } }
            app.get('/throws', options, async () => {
              throw make()
            })
          },
          { plane, logger },
        )
        const response = await fetch(`${url}/throws`)
        const text = await response.text()
        const { status, headers } = response
        const answer = { status, headers: Object.fromEntries(headers), text }
        isRefusal(answer, 'service_unavailable', true)
        assert.ok(!text.includes(SECRET))
        const line = JSON.parse(lines[0] ?? '')
        assert.equal(lines.length, 1)
        assert.equal(line.route, '/throws')
        assert.equal(line.reqId, answer.headers['x-correlation-id'])
        if (make() instanceof Error) assert.equal(line.err.message, SECRET)
      })
    }
  }

  test('is classified by who must act on it, and logged at the level of its class', async (t) => {
    const lines: string[] = []
    const logger = createLogger('warn', { write: (line: string) => void lines.push(line) })
    const failures: string[] = []
    const lost = Object.assign(new Error('lost'), { code: 'ECONNRESET', syscall: 'read' })
    const errors = {
      bug: new Error('a slip'),
      outage: new ApiError('auth_unavailable', { cause: lost }),
      upstream: new ApiError('payment_unconfirmed', { kind: 'upstream' }),
      overload: new ApiError('service_unavailable', { kind: 'overload' }),
    }
    const routes: Routes = async (app) => {
      for (const [kind, error] of Object.entries(errors)) {
        app.get(`/${kind}`, { schema: { response: { 200: Ok } } }, async () => {
          throw error
        })
      }
    }
    const onFailure = (kind: string) => failures.push(kind)
    const { url } = await openBareServer(t, routes, { logger, onFailure })
    for (const kind of Object.keys(errors)) await fetch(`${url}/${kind}`)
    assert.deepEqual(failures, Object.keys(errors))
    const logged = lines.map((line) => JSON.parse(line)).map(({ kind, level }) => [kind, level])
    assert.deepEqual(logged, [
      ['bug', 50],
      ['outage', 50],
      ['upstream', 40],
      ['overload', 40],
    ])
  })

  test('says when to try again, and for a keyed route that the key must stay the same', async (t) => {
    const fail = async () => {
      throw new Error('a slip')
    }
    const { url } = await openBareServer(t, async (app) => {
      const schema = { response: { 200: Ok } }
      app.post('/plain', { schema }, fail)
      app.post('/keyed', { schema, config: { idempotent: true } }, fail)
    })
    const sameKey = async (path: string) => {
      const answer = await fetch(url + path, { method: 'POST' })
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '2'])
      return (await answer.text()).includes('with the same Idempotency-Key')
    }
    assert.deepEqual([await sameKey('/plain'), await sameKey('/keyed')], [false, true])
  })

  test('a response that does not match its shape', async (t) => {
    const { url } = await openBareServer(t, async (app) => {
      const Strict = Type.Object({ name: Type.String() })
      const unfit = { name: undefined } as unknown as { name: string }
      app.get('/unfit', { schema: { response: { 200: Strict } } }, async () => unfit)
      const cyclic: { self?: unknown } = {}
      cyclic.self = cyclic
      const open = { config: { hidden: true } }
      app.get('/cyclic', open, async () => cyclic)
    })
    for (const path of ['/unfit', '/cyclic']) {
      const response = await fetch(url + path)
      const headers = Object.fromEntries(response.headers)
      const answer = { status: response.status, headers, text: await response.text() }
      isRefusal(answer, 'service_unavailable', true)
    }
  })

  test('a caller that disconnects in the middle of its body is not a failure of ours', async (t) => {
    const lines: string[] = []
    const logger = createLogger('error', { write: (line: string) => void lines.push(line) })
    const failures: string[] = []
    let isNoticed = false
    const { url, app } = await openBareServer(
      t,
      async (app) => {
        app.addHook('onError', async () => {
          isNoticed = true
        })
        app.post(
          '/takes',
          { schema: { body: Type.Object({}), response: { 200: Ok } } },
          async () => ({ ok: true }),
        )
      },
      { logger, onFailure: (kind) => failures.push(kind) },
    )
    const going = connect(Number(new URL(url).port), '127.0.0.1')
    const headers = { 'content-type': 'application/json', 'content-length': '100' }
    going.write(requestText('POST /takes', headers, '{"a":'))
    await once(app.server, 'request')
    going.destroy()
    await until('it is noticed', () => isNoticed)
    // The error handler comes right after the hook.
    await nextTurn()
    assert.deepEqual([lines, failures], [[], []])
  })
})

describe('the caller that a limit counts', () => {
  const LIMIT = 3

  async function open(t: Parameters<typeof openTestApp>[0], trusted: string) {
    return openTestApp(t, {
      env: { RATE_LIMIT_FAILED_PER_MINUTE: String(LIMIT), TRUST_PROXY: trusted },
    })
  }

  /** Of the tests behind this proxy each has addresses of its own. */
  const proxied = share((scope) => open(scope, '127.0.0.1'))

  /** Statuses of failed attempts, each from the next address. */
  async function attempts(app: Awaited<ReturnType<typeof open>>, addresses: string[]) {
    const statuses: number[] = []
    for (const address of addresses) {
      const caller = app.as({
        'x-forwarded-for': address,
        'x-real-ip': address,
        forwarded: address,
      })
      statuses.push((await caller.get('/v1/stores')).status)
    }
    return statuses
  }

  const four = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']

  test('is the peer, whatever its headers say, when no proxy is trusted', async (t) => {
    assert.deepEqual(await attempts(await open(t, ''), four), [401, 401, 401, 429])
  })

  test('is the peer, when the peer is not a trusted proxy', async (t) => {
    assert.deepEqual(await attempts(await open(t, '10.0.0.0/8'), four), [401, 401, 401, 429])
  })

  test('is the address that a trusted proxy names, and each address is counted alone', async (t) => {
    const app = await open(t, '127.0.0.0/8, ::1')
    assert.deepEqual(await attempts(app, four), [401, 401, 401, 401])
    const same = await attempts(app, ['192.0.2.9', '192.0.2.9', '192.0.2.9', '192.0.2.9'])
    assert.deepEqual(same, [401, 401, 401, 429])
  })

  test('a proxy that is not configured is warned of, once', async (t) => {
    for (const [trustProxy, warnings] of [
      [[], 1],
      [['127.0.0.1'], 0],
    ] as const) {
      const lines: string[] = []
      const logger = createLogger('warn', { write: (line: string) => void lines.push(line) })
      const routes: Routes = async (app) => {
        app.get('/', { schema: { response: { 200: Ok } } }, async () => ({ ok: true }))
      }
      const { url } = await openBareServer(t, routes, { logger, trustProxy })
      await fetch(url)
      assert.equal(lines.length, 0)
      for (const address of four) await fetch(url, { headers: { 'x-forwarded-for': address } })
      assert.equal(lines.length, warnings)
      for (const line of lines) assert.match(line, /TRUST_PROXY is not set/)
    }
  })

  test('is the last address not added by a trusted proxy: a caller cannot forge one', async () => {
    const app = proxied.current
    const forged = four.map((address) => `${address}, 198.51.100.7`)
    assert.deepEqual(await attempts(app, forged), [401, 401, 401, 429])
  })

  test('is a whole network for IPv6 addresses', async () => {
    const app = proxied.current
    const network = [1, 2, 3, 4].map((n) => `2001:db8:1:2::${n}`)
    assert.deepEqual(await attempts(app, network), [401, 401, 401, 429])
    assert.deepEqual(await attempts(app, ['2001:db8:1:3::1']), [401])
  })

  test('is the same for all texts that are not an address', async () => {
    const app = proxied.current
    assert.deepEqual(await attempts(app, ['a', 'b', 'c', 'd']), [401, 401, 401, 429])
  })
})
