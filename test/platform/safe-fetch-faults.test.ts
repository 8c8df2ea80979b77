import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { SafeFetchError } from '../../src/platform/safe-address.ts'
import { createSafeFetch, type SafeFetch } from '../../src/platform/safe-fetch.ts'
import { fixed, startDns, type TestDns } from '../harness/dns.ts'
import { openServers, type Servers, TEST_CA } from '../harness/servers.ts'

const DEADLINE_MS = 300

/** Time for a busy machine: a call without a limit would wait for ever. */
const SLACK_MS = 60_000

const LIMIT = 64 * 1_024
/** The limit for the body of a response, however long the deadline is. */
const BODY_MS = 1_000

let dns: TestDns
let servers: Servers
let opened: SafeFetch[] = []

before(async () => {
  dns = await startDns()
})
after(() => dns.close())
beforeEach(() => {
  servers = openServers()
})
afterEach(async () => {
  await Promise.all(opened.map((safe) => safe.close()))
  opened = []
  await servers.close()
})

function start(testTargets: readonly string[], timeoutMs = DEADLINE_MS): SafeFetch {
  const resolver = { servers: [dns.server] }
  const safe = createSafeFetch({ testTargets, resolver, timeoutMs, ca: TEST_CA })
  opened.push(safe)
  return safe
}

const post = (safe: SafeFetch, url: string, timeoutMs = DEADLINE_MS) =>
  safe.send({ url, method: 'POST', headers: {}, body: Buffer.from('{}'), timeoutMs })

const sendTo = (port: number, { scheme = 'http', timeoutMs = DEADLINE_MS } = {}) =>
  post(start([`127.0.0.1:${port}`]), `${scheme}://127.0.0.1:${port}/`, timeoutMs)

async function failure(call: Promise<unknown>): Promise<{ kind: string; ms: number }> {
  const startedAt = performance.now()
  try {
    await call
    return { kind: 'fine', ms: performance.now() - startedAt }
  } catch (error) {
    assert.ok(error instanceof SafeFetchError, String(error))
    assert.doesNotMatch(error.message, /\d|::|undici|Error/)
    return { kind: error.kind, ms: performance.now() - startedAt }
  }
}

async function assertTimeout(call: Promise<unknown>) {
  const { kind, ms } = await failure(call)
  assert.equal(kind, 'timeout')
  assert.ok(ms >= DEADLINE_MS / 2 && ms < DEADLINE_MS + SLACK_MS, `${ms} ms`)
}

/** Writes the same bytes every 20 ms until the connection closes. */
function writeSlowly(socket: Socket, bytes: string) {
  const timer = setInterval(() => socket.write(bytes), 20)
  socket.on('close', () => clearInterval(timer))
}

test('safe-fetch gives up at the deadline on a server that sends nothing', async () => {
  const port = await servers.raw(() => {})
  await assertTimeout(sendTo(port))
})

test('safe-fetch gives up at the deadline on a server that never finishes the TLS handshake', async () => {
  const port = await servers.raw(() => {})
  await assertTimeout(sendTo(port, { scheme: 'https' }))
})

test('safe-fetch gives up at the deadline on headers that arrive slowly', async () => {
  const port = await servers.raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-writeSlowly: ')
    writeSlowly(socket, 'x')
  })
  await assertTimeout(sendTo(port))
})

test('safe-fetch gives up at the deadline on endless interim responses', async () => {
  const port = await servers.raw((socket) =>
    writeSlowly(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'),
  )
  await assertTimeout(sendTo(port))
})

test('safe-fetch gives up at the deadline on a name server that does not answer', async () => {
  dns.set('silent.test', () => ({ silent: true }))
  await assertTimeout(start([]).check('https://silent.test/'))
  await assertTimeout(post(start([]), 'https://silent.test/'))
})

test('a slow body delays the call neither past its own limit nor past the deadline', async () => {
  const port = await servers.raw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n')
    writeSlowly(socket, 'y')
  })
  const take = async (timeoutMs: number) => {
    const startedAt = performance.now()
    const answer = await sendTo(port, { timeoutMs })
    const ms = performance.now() - startedAt
    assert.equal(answer.status, 200)
    assert.match(answer.body.toString(), /^y+$/)
    assert.equal(answer.complete, false)
    assert.ok(answer.latencyMs < ms - 100, 'latency ends at the headers')
    return ms
  }
  const bound = await take(10 * SLACK_MS)
  assert.ok(bound >= BODY_MS && bound < BODY_MS + SLACK_MS, `${bound} ms`)
  // On a busy machine the headers may not arrive in so short a time, or the end may come late. One
  // call that ended before the body's own limit proves the deadline.
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 25 && best >= BODY_MS; round += 1) {
    best = Math.min(best, await take(BODY_MS / 2).catch(() => best))
  }
  assert.ok(best < BODY_MS, `${best} ms`)
})

test('safe-fetch reads 64 KiB of a body of 1 GiB, in bounded memory', async () => {
  const gibibyte = 1_024 ** 3
  const chunk = Buffer.alloc(64 * 1_024, 'z')
  let sent = 0
  const port = await servers.http((_request, response) => {
    response.writeHead(200, { 'content-length': gibibyte })
    const more = () => {
      while (sent < gibibyte && !response.destroyed) {
        sent += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', more)
    more()
  })
  const before = process.memoryUsage().rss
  const answer = await sendTo(port, { timeoutMs: SLACK_MS })
  const grown = process.memoryUsage().rss - before
  assert.equal(answer.body.length, LIMIT)
  assert.equal(answer.complete, false)
  assert.ok(sent < 32 * 1_024 ** 2, `the server could send ${sent} bytes`)
  assert.ok(grown < 20 * 1_024 ** 2, `memory grew by ${grown} bytes`)
})

test('safe-fetch answers whether the body is complete', async () => {
  for (const [length, complete] of [
    [0, true],
    [LIMIT, true],
    [LIMIT + 1, false],
  ] as const) {
    const body = randomBytes(length)
    const port = await servers.http((_request, response) => response.end(body))
    const answer = await sendTo(port, { timeoutMs: SLACK_MS })
    assert.equal(answer.complete, complete, `${length} bytes`)
    assert.deepEqual(answer.body, body.subarray(0, LIMIT))
  }
  const port = await servers.raw((socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
  )
  const answer = await sendTo(port, { timeoutMs: SLACK_MS })
  assert.equal(answer.body.toString(), 'half')
  assert.equal(answer.complete, false)
})

test('safe-fetch names the kind of failure', async () => {
  const reply = (text: string) => servers.raw((socket) => socket.end(text))
  const table: readonly (readonly [what: string, kind: string, port: number, scheme?: string])[] = [
    ['garbage', 'protocol', await reply('220 mail.example ESMTP\r\n')],
    ['binary', 'protocol', await reply('\u0000\u0001\u0002'.repeat(100))],
    [
      'a header of 1 MiB',
      'protocol',
      await reply(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(1_024 ** 2)}\r\n\r\n`),
    ],
    [
      'headers of 32 KiB together',
      'protocol',
      await reply(`HTTP/1.1 200 OK\r\n${'x-a: 0123456789\r\n'.repeat(2_000)}\r\n`),
    ],
    [
      'two lengths',
      'protocol',
      await reply('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
    ],
    ['a reset', 'connect', await servers.raw((socket) => void socket.resetAndDestroy())],
    ['a close without answer', 'connect', await reply('')],
    ['a closed port', 'connect', 1],
    ['HTTP where TLS was expected', 'tls', await reply('HTTP/1.1 200 OK\r\n\r\n'), 'https'],
    [
      'a reset in the handshake',
      'tls',
      await servers.raw((s) => void s.resetAndDestroy()),
      'https',
    ],
  ]
  for (const [what, kind, port, scheme = 'http'] of table) {
    const outcome = await failure(sendTo(port, { scheme, timeoutMs: SLACK_MS }))
    assert.equal(outcome.kind, kind, what)
  }
})

test('safe-fetch reports a name without an address as a DNS failure', async () => {
  dns.set('gone.test', () => ({ code: 'NXDOMAIN' }))
  dns.set('broken.test', () => ({ code: 'SERVFAIL' }))
  dns.set('empty.test', () => ({}))
  dns.set('dangling.test', () => ({ cname: 'nowhere.test' }))
  const safe = start([], 5_000)
  for (const name of ['gone', 'broken', 'empty', 'dangling']) {
    assert.equal((await failure(safe.check(`https://${name}.test/`))).kind, 'dns', name)
    assert.equal((await failure(post(safe, `https://${name}.test/`, 5_000))).kind, 'dns', name)
  }
})

test('safe-fetch uses the addresses of one family when the lookup of the other fails', async () => {
  const port = await servers.http((_request, response) => response.end('ok'))
  const works = fixed('127.0.0.1')
  dns.set('half.test', (type, asked) => (type === 'A' ? works(type, asked) : { code: 'SERVFAIL' }))
  const safe = start([`half.test:${port}`])
  assert.equal((await post(safe, `http://half.test:${port}/`, 5_000)).body.toString(), 'ok')
})

test('safe-fetch sends nothing when a header would break out of its line', async () => {
  let requests = 0
  const port = await servers.http((_request, response) => {
    requests += 1
    response.end()
  })
  const target = `127.0.0.1:${port}`
  const call = start([target]).send({
    url: `http://${target}/`,
    method: 'POST',
    headers: { 'x-a': 'b\r\nhost: other' },
    timeoutMs: SLACK_MS,
  })
  assert.equal((await failure(call)).kind, 'protocol')
  assert.equal(requests, 0)
})

test('safe-fetch leaves no socket and no DNS lookup open', async () => {
  const answering = await servers.http((_request, response) => response.end('x'))
  const hanging = await servers.raw(() => {})
  const refusing = 1
  for (const port of [answering, hanging, refusing]) {
    dns.set(`p${port}.test`, fixed('127.0.0.1'))
    const target = `p${port}.test:${port}`
    const safe = start([target])
    await Promise.allSettled(
      Array.from({ length: 30 }, () => post(safe, `http://${target}/`, DEADLINE_MS)),
    )
  }
  await servers.close()
  servers = openServers()
  const left = () =>
    process.getActiveResourcesInfo().filter((name) => /SocketWrap|ConnectWrap|Query/.test(name))
  // A destroyed socket disappears a few turns of the event loop later.
  for (
    const until = performance.now() + SLACK_MS;
    performance.now() < until;
    await setImmediate()
  ) {
    if (left().length === 0) break
  }
  assert.deepEqual(left(), [])
})

test('safe-fetch waits for running calls when it closes, and accepts no more', async () => {
  let answer = () => {}
  const arrived = Promise.withResolvers<void>()
  const port = await servers.http((_request, response) => {
    answer = () => void response.end('late')
    arrived.resolve()
  })
  const target = `127.0.0.1:${port}`
  const safe = start([target])
  const call = post(safe, `http://${target}/`, SLACK_MS)
  await arrived.promise
  let closed = false
  const closing = safe.close().then(() => {
    closed = true
  })
  await assert.rejects(safe.check('https://8.8.8.8/'), /after close/)
  assert.equal(closed, false)
  answer()
  assert.equal((await call).body.toString(), 'late')
  await closing
})
