import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createAnswerSlots } from '../../src/http/answer-slots.ts'
import { signalOfClose } from '../../src/http/sockets.ts'
import { FEED_SLOTS } from '../../src/modules/feeds/routes.ts'

const open = new AbortController().signal

/** Feeds that are sent until the test ends them. */
function openSlots(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const slots = createAnswerSlots(FEED_SLOTS)
  const begin = (tenant: string, reader: string, signal = open) => {
    const sent = Promise.withResolvers<void>()
    const feed = { state: 'waits', retryAfter: '', end: sent.resolve }
    slots
      .run({ tenant, reader, signal }, () => {
        feed.state = 'sent'
        return sent.promise
      })
      .catch((error: { code?: string; message: string; headers?: Record<string, string> }) => {
        feed.state = error.code ?? error.message
        feed.retryAfter = error.headers?.['retry-after'] ?? ''
      })
    return feed
  }
  return { begin }
}

const stateOf = ({ state }: { state: string }) => state

describe('the slots of feeds', () => {
  test('are given one to each reader, whatever store it reads', async (t) => {
    const { begin } = openSlots(t)
    const slow = Array.from({ length: 8 }, (_, n) => begin(`store-${n}`, 'slow'))
    const other = begin('store-1', 'another')
    await turn()
    assert.deepEqual(slow.map(stateOf), ['sent', ...Array(7).fill('waits')])
    assert.equal(other.state, 'sent')
    slow[0]?.end()
    await turn()
    assert.equal(slow[1]?.state, 'sent')
  })

  test('are refused to a reader who has eight requests waiting', async (t) => {
    const { begin } = openSlots(t)
    const feeds = Array.from({ length: 10 }, () => begin('acme', 'many'))
    await turn()
    assert.equal(feeds.at(-1)?.state, 'rate_limited')
    assert.equal(feeds.filter(({ state }) => state === 'rate_limited').length, 1)
  })

  test('make a reader wait for ten seconds at most, and say when to try again', async (t) => {
    const { begin } = openSlots(t)
    for (let n = 0; n < 8; n++) begin('acme', `slow ${n}`)
    const late = begin('acme', 'ann')
    const elsewhere = begin('globex', 'bob')
    await turn()
    assert.deepEqual([late.state, elsewhere.state], ['waits', 'sent'])
    t.mock.timers.tick(10_000)
    await turn()
    assert.deepEqual([late.state, late.retryAfter], ['service_unavailable', '10'])
    assert.equal(elsewhere.state, 'sent', 'what is sent goes on')
  })

  test('stop waiting for a reader who has disconnected', async (t) => {
    const { begin } = openSlots(t)
    const caller = new AbortController()
    begin('acme', 'ann')
    const left = begin('acme', 'ann', caller.signal)
    caller.abort(new Error('hung up'))
    await turn()
    assert.equal(left.state, 'hung up')
  })
})

test('a reader who takes no bytes for a while loses its connection, and one who reads slowly to the end does not', async (t) => {
  const server = createServer(({ url }, response) => {
    // On a busy machine a quick reader may rest for seconds, too.
    const everyMs = url === '/slow' ? 50 : 60_000
    createAnswerSlots({ ...FEED_SLOTS, pace: { bytes: 1_024, everyMs } }).watch(response)
    const part = Buffer.alloc(65_536)
    Readable.from(
      (function* () {
        for (let n = 0; n < 1_000; n++) yield part
      })(),
    ).pipe(response)
  })
  t.after(() => server.close())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const slow = connect(port, '127.0.0.1')
  const closed = new Promise((done) =>
    server.once('connection', (socket) => socket.once('close', done)),
  )
  slow.on('error', () => {})
  slow.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  slow.pause()
  await closed
  slow.destroy()
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal((await answer.arrayBuffer()).byteLength, 65_536_000)
})

test('a reader who left before its answer began leaves no timer behind, and takes no slot', async (t) => {
  const received = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => received.resolve(response))
  t.after(() => server.close())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
  reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const response = await received.promise
  const closed = once(response, 'close')
  reader.destroy()
  await closed
  const timers = t.mock.method(globalThis, 'setInterval')
  const slots = createAnswerSlots(FEED_SLOTS)
  slots.watch(response)
  assert.equal(timers.mock.callCount(), 0)
  const of = { tenant: 'acme', reader: 'ann', signal: signalOfClose(response) }
  const sent = slots.run(of, async () => assert.fail('it was sent to nobody'))
  await assert.rejects(sent, { code: 'request_timeout' })
})
