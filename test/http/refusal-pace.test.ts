import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { Type } from 'typebox'
import type { TenantDb } from '../../src/db/database.ts'
import type { SharedCode } from '../../src/error-codes.ts'
import { ApiError } from '../../src/errors.ts'
import { decorateRequests } from '../../src/http/guards.ts'
import { createServer } from '../../src/http/server.ts'
import { createLogger } from '../../src/platform/log.ts'

/** A refusal that waits. */
interface Wait {
  store: string
  end: () => void
  fail: (error: ApiError) => void
}

/** A server whose stores wait with their refusals until the test says how the wait ends. */
async function openServer() {
  const paced = new EventEmitter()
  const app = createServer({
    logger: createLogger('silent'),
    trustProxy: [],
  })
  const pace = (store: string) =>
    new Promise<void>((end, fail) => {
      paced.emit('wait', { store, end, fail } satisfies Wait)
    })
  decorateRequests(app)
  app.addHook('onRequest', async (request) => {
    const { store } = request.query as { store?: string }
    if (store !== undefined) {
      request.db = { tenant: store, pace: () => pace(store) } as unknown as TenantDb
    }
  })
  const response = { 200: Type.Object({}) }
  app.get('/:code', { config: { plane: 'public' }, schema: { response } }, async (request) => {
    const { code } = request.params as { code: string }
    if (code !== 'ok') throw new ApiError(code as SharedCode)
    return {}
  })
  const get = async (url: string) => (await app.inject({ url })).statusCode
  const nextWait = async (): Promise<Wait> => {
    const [wait] = await once(paced, 'wait', { signal: AbortSignal.timeout(60_000) })
    return wait
  }
  return { paced, get, nextWait }
}

test('a refusal that costs no work waits for the share of its store', async () => {
  const { get, nextWait } = await openServer()
  for (const [code, status] of [
    ['order_not_found', 404],
    ['invalid_body', 400],
    ['forbidden', 403],
    ['rate_limited', 429],
  ] as const) {
    let answered = false
    const waiting = nextWait()
    const answer = get(`/${code}?store=acme`).finally(() => {
      answered = true
    })
    const wait = await waiting
    assert.deepEqual([wait.store, answered], ['acme', false])
    wait.end()
    assert.equal(await answer, status)
  }
})

test('a refusal of a store with too many of them waiting is a 503', async () => {
  const { get, nextWait } = await openServer()
  const waiting = nextWait()
  const answer = get('/order_not_found?store=acme')
  const wait = await waiting
  wait.fail(new ApiError('service_unavailable'))
  assert.equal(await answer, 503)
})

test('a success, a refused payment and a caller without a store do not wait', async () => {
  const { get, paced } = await openServer()
  paced.once('wait', () => assert.fail('nothing waits'))
  assert.equal(await get('/ok?store=acme'), 200)
  assert.equal(await get('/payment_declined?store=acme'), 402)
  assert.equal(await get('/order_not_found'), 404)
})
