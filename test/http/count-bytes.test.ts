import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import Fastify from 'fastify'
import { countBytes } from '../../src/http/count-bytes.ts'
import type { App } from '../../src/http/route.ts'
import { until } from '../harness/eventually.ts'

test('long JSON texts count as use of their store, in requests and in answers', async (t) => {
  const app = Fastify({ bodyLimit: 1_048_576 }) as unknown as App
  t.after(() => app.close())
  const used: [store: string, ms: number][] = []
  app.decorateRequest('db', undefined as never)
  app.addHook('onRequest', async (request) => {
    const { store } = request.query as { store?: string }
    const addUse = (ms: number) => used.push([store ?? '', Math.round(ms)])
    if (store !== undefined) request.db = { tenant: store, addUse } as never
  })
  app.addContentTypeParser('image/png', { parseAs: 'buffer' }, async () => null)
  countBytes(app)
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

test('an exported table counts as use of the store while it is written, and ends when its reader leaves', async (t) => {
  const app = Fastify() as unknown as App
  t.after(() => app.close())
  const used: number[] = []
  app.decorateRequest('db', undefined as never)
  app.addHook('onRequest', async (request) => {
    request.db = { tenant: 'acme', addUse: (ms: number) => used.push(Math.round(ms)) } as never
  })
  countBytes(app)
  let isClosed = false
  app.get<{ Params: { pages: string } }>('/:pages', (request, reply) => {
    async function* pages() {
      try {
        for (let n = 0; n < Number(request.params.pages); n++) yield 'x'.repeat(102_400)
      } finally {
        isClosed = true
      }
    }
    return reply.header('content-type', 'text/csv; charset=utf-8').send(Readable.from(pages()))
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  assert.equal((await (await fetch(`${url}/3`)).text()).length, 307_200)
  assert.deepEqual([used, isClosed], [[10, 10, 10], true])
  isClosed = false
  const broken = new AbortController()
  const answer = await fetch(`${url}/1000000`, { signal: broken.signal })
  await answer.body?.getReader().read()
  broken.abort()
  await until('the table ends', () => isClosed)
})
