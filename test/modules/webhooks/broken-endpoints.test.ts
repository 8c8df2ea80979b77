import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { openServers } from '../../harness/servers.ts'
import { openWebhooksApp } from './setup.ts'

/** Writes the same bytes every 20 ms until the connection closes. */
function drip(socket: Socket, bytes: string) {
  const timer = setInterval(() => socket.write(bytes), 20)
  socket.on('close', () => clearInterval(timer))
}

function dripHeaders(socket: Socket) {
  socket.write('HTTP/1.1 200 OK\r\nx-drip: ')
  drip(socket, 'x')
}

/** Long enough for a busy machine to reach each fault, with all of them at once. */
const DEADLINE_MS = 4_000

const TIMEOUT = 'The endpoint did not answer in time.'
const GARBAGE = 'The endpoint did not answer with valid HTTP.'
const LOST = 'The connection was refused or lost.'
const TLS = 'No trusted TLS connection was possible. Check the certificate.'

type Fault = [
  what: string,
  scheme: 'http' | 'https',
  speak: (socket: Socket) => void,
  error: string,
]

const FAULTS: Fault[] = [
  ['hangs', 'http', () => {}, TIMEOUT],
  ['drips its headers', 'http', (socket) => dripHeaders(socket), TIMEOUT],
  ['never finishes the handshake', 'https', () => {}, TIMEOUT],
  ['speaks no TLS', 'https', (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'), TLS],
  ['hangs up', 'http', (socket) => socket.destroy(), LOST],
  ['resets', 'http', (socket) => socket.resetAndDestroy(), LOST],
  ['speaks another protocol', 'http', (socket) => socket.end('220 smtp ready\r\n'), GARBAGE],
  ['answers half a status line', 'http', (socket) => socket.end('HTTP/1.1 2'), LOST],
  [
    'floods headers',
    'http',
    (socket) => drip(socket, `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`),
    GARBAGE,
  ],
]

test('an endpoint that misbehaves', async (t) => {
  const servers = openServers()
  t.after(() => servers.close())
  const ports = await Promise.all(FAULTS.map(([, , speak]) => servers.raw(speak)))
  const strange = await servers.https((_request, response) => response.end())
  const gibibyte = 1_024 ** 3
  let sent = 0
  const endless = await servers.http((_request, response) => {
    response.writeHead(200, { 'content-length': gibibyte })
    const chunk = Buffer.alloc(65_536, 'z')
    const more = () => {
      while (sent < gibibyte && !response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', more)
    more()
  })
  const slow = await servers.raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n')
    drip(socket, 'y')
  })
  const app = await openWebhooksApp(t, { targets: [...ports, strange, endless, slow] })
  const acme = await app.merchant('acme', 'manage:own_webhooks')
  const urls = FAULTS.map(([, scheme], n) => `${scheme}://127.0.0.1:${ports[n]}/`)
  const untrusted = `https://127.0.0.1:${strange}/`
  const drips = `http://127.0.0.1:${slow}/`
  const floods = `http://127.0.0.1:${endless}/`
  for (const url of [...urls, untrusted, drips, floods]) await app.register(acme, url)
  await app.place('acme')
  const rss = process.memoryUsage().rss
  const startedAt = performance.now()
  assert.equal(await app.dispatch({ timeoutMs: DEADLINE_MS }), FAULTS.length + 3)
  const tookMs = performance.now() - startedAt
  const grown = (process.memoryUsage().rss - rss) / 1_024 ** 2
  const { body } = await acme.get('/v1/merchant/deliveries?limit=100')
  const rowOf = (url: string) =>
    body.deliveries.find((each: { endpoint_url: string }) => each.endpoint_url === url)

  for (const [n, [what, , , error]] of FAULTS.entries()) {
    await t.test(`an endpoint that ${what}: the attempt fails and is retried`, () => {
      const row = rowOf(urls[n] ?? '')
      assert.deepEqual(
        [row.status, row.attempt_count, row.last_status_code, row.last_attempt_error],
        ['pending', 1, null, error],
      )
    })
  }
  await t.test('an endpoint without a trusted certificate gets nothing', () => {
    assert.deepEqual(
      [rowOf(untrusted).status, rowOf(untrusted).last_attempt_error],
      ['pending', TLS],
    )
  })
  await t.test(
    'an endpoint that sends an endless body counts as delivered, and hardly any of it is read',
    () => {
      assert.equal(rowOf(floods).status, 'delivered')
      assert.ok(sent < 16 * 1_024 ** 2, `${sent} bytes left it`)
      assert.ok(grown < 60, `grew by ${grown} MiB, with all of them at once`)
      assert.equal(rowOf(drips).status, 'delivered')
    },
  )
  await t.test('delays no other delivery beyond the timeout', () => {
    // An endpoint that hangs or drips does so for ever.
    assert.ok(tookMs < DEADLINE_MS + 15_000, `${tookMs} ms`)
  })
})
