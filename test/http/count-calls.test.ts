import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { countCalls } from '../../src/http/count-calls.ts'
import type { App } from '../../src/http/route.ts'
import type { ApiCall } from '../../src/kernel/api-call.ts'

test('calls with a key count once answered, except our own failures and calls that the limiter refused', async (t) => {
  const app = Fastify() as unknown as App
  t.after(() => app.close())
  app.decorateRequest('merchant', undefined as never)
  app.decorateRequest('db', undefined as never)
  app.addHook('onRequest', async (request) => {
    if (request.headers.authorization === undefined) return
    request.merchant = { tenant: 'acme', credentialId: 'a key', scopes: [] }
    request.db = { clock: { now: () => 42 } } as never
  })
  const counted: ApiCall[] = []
  countCalls(app, (call) => counted.push(call))
  app.get<{ Params: { status: string } }>('/:status', (request, reply) =>
    reply.code(Number(request.params.status)).send(),
  )
  const headers = { authorization: 'a key' }
  for (const status of [200, 204, 400, 403, 404, 409, 429, 500, 503]) {
    const before = counted.length
    await app.inject({ url: `/${status}`, headers })
    const expected = status < 500 && status !== 429 ? 1 : 0
    assert.equal(counted.length - before, expected, String(status))
  }
  await app.inject({ url: '/200' })
  assert.equal(counted.length, 6)
  assert.deepEqual(counted[0], { tenant: 'acme', credentialId: 'a key', atMs: 42 })
})
