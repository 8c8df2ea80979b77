import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { countBytes } from '../../src/http/count-bytes.ts'
import type { App } from '../../src/http/route.ts'

test('long texts of JSON count as use of their store, whichever way they go', async (t) => {
  const app = Fastify({ bodyLimit: 1_048_576 }) as unknown as App
  t.after(() => app.close())
  app.decorateRequest('db', undefined as never)
  app.addHook('onRequest', async (request) => {
    const { store } = request.query as { store?: string }
    if (store !== undefined) request.db = { tenant: store } as never
  })
  app.addContentTypeParser('image/png', { parseAs: 'buffer' }, async () => null)
  const used: [store: string, ms: number][] = []
  countBytes(app, (store, ms) => used.push([store, Math.round(ms)]))
  app.post('/', async ({ query }) => ({
    text: 'x'.repeat(Number((query as { answer?: string }).answer ?? 0)),
  }))
  const json = { 'content-type': 'application/json' }
  const send = async (url: string, payload: string, headers: Record<string, string> = json) => {
    used.length = 0
    const { statusCode } = await app.inject({ method: 'POST', url, headers, payload })
    assert.equal(statusCode, 200)
    return [...used]
  }
  const long = JSON.stringify('x'.repeat(104_000))
  assert.deepEqual(await send('/?store=acme', '{}'), [])
  assert.deepEqual(await send('/?store=acme', long), [['acme', 10]])
  assert.deepEqual(await send('/?store=acme&answer=104000', '{}'), [['acme', 10]])
  assert.deepEqual(await send('/?store=acme', long, { 'content-type': 'image/png' }), [])
  assert.deepEqual(await send('/', long), [])
})
