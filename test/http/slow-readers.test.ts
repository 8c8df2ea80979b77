import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { publicPlane, ReadPace } from '../../src/http/read-pace.ts'
import { openBareServer } from '../harness/bare-server.ts'
import { until } from '../harness/eventually.ts'
import { requestText } from '../harness/raw-http.ts'

/** More than the buffers of a connection hold. */
const LONG = 'x'.repeat(20_000_000)

test('readers who do not read their answers keep no turn from others, however a route sends it', async (t) => {
  const begun = { text: 0, stream: 0 }
  const pace = new ReadPace({
    othersAreAtWork: () => false,
    readerOf: () => ({ name: 'a browser', waitingMax: 20 }),
  })
  const at = (path: string) => `/v1/tenants/acme/${path}`
  const { url } = await openBareServer(
    t,
    publicPlane(pace, { learn() {}, forget() {} }, [
      async (app) => {
        const answers = { schema: { response: { 200: Type.String() } } }
        const send = (reply: FastifyReply, name: keyof typeof begun, what: unknown) => {
          begun[name] += 1
          return reply.type('text/plain').send(what)
        }
        app.get(at('text'), answers, async (_, reply) => send(reply, 'text', LONG) as never)
        app.get(
          at('stream'),
          answers,
          async (_, reply) => send(reply, 'stream', Readable.from([LONG])) as never,
        )
        app.get(at('short'), answers, async () => 'short')
      },
    ]),
  )
  for (const name of ['text', 'stream'] as const) {
    for (let n = 1; n <= 10; n++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.on('error', () => {})
      t.after(() => socket.destroy())
      socket.pause()
      socket.write(requestText(`GET ${at(name)}`))
      await until('it has its turn', async () => begun[name] === n)
    }
  }
  assert.equal(await (await fetch(url + at('short'))).text(), 'short')
})
