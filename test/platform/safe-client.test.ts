import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { SafeFetchError } from '../../src/platform/safe-address.ts'
import { createSafeFetch, type SafeClient, type SafeFetch } from '../../src/platform/safe-fetch.ts'
import { fixed, rebinding, startDns, type TestDns } from '../harness/dns.ts'
import { until } from '../harness/eventually.ts'
import { openServers, type Servers, TEST_CA } from '../harness/servers.ts'

let dns: TestDns
let servers: Servers
let safe: SafeFetch
let line: SafeClient

before(async () => {
  dns = await startDns()
})
after(() => dns.close())
beforeEach(() => {
  servers = openServers()
})
afterEach(async () => {
  line.close()
  await safe.close()
  await servers.close()
})

/** A client that may call `host:port`, whatever its address. */
async function open(...testTargets: string[]): Promise<void> {
  safe = createSafeFetch({ testTargets, resolver: { servers: [dns.server] }, ca: TEST_CA })
  line = await safe.openClient()
}

const post = (url: string, timeoutMs = 5_000) =>
  line.send({ url, method: 'POST', headers: {}, body: Buffer.from('{"a":1}'), timeoutMs })

async function kindOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'fine'
  } catch (error) {
    assert.ok(error instanceof SafeFetchError, String(error))
    return error.kind
  }
}

/** A server that records the connection of each request. */
async function countConnections(scheme: 'http' | 'https') {
  const seen: (Socket | undefined)[] = []
  const port = await servers[scheme]((request, response) => {
    seen.push(request.socket)
    request.resume()
    response.end('thanks')
  })
  return { port, requests: () => seen.length, connections: () => new Set(seen).size }
}

test('calls go over one connection, one after another, and each call looks the name up', async () => {
  dns.set('hook.test', fixed('127.0.0.1'))
  for (const scheme of ['http', 'https'] as const) {
    const { port, requests, connections } = await countConnections(scheme)
    await open(`hook.test:${port}`)
    const before = dns.asked('hook.test')
    for (let n = 0; n < 5; n++) {
      const answer = await post(`${scheme}://hook.test:${port}/`)
      assert.deepEqual([answer.status, answer.body.toString()], [200, 'thanks'])
    }
    line.close()
    assert.deepEqual([requests(), connections()], [5, 1])
    assert.equal(dns.asked('hook.test') - before, 10, 'A and AAAA, five times')
  }
})

test('an open connection is not used once the name resolves to another address, or none', async () => {
  const { port, requests } = await countConnections('http')
  dns.set('moves.hook.test', rebinding(fixed('127.0.0.1'), fixed('127.0.0.2')))
  dns.set(
    'ends.hook.test',
    rebinding(fixed('127.0.0.1'), () => ({ code: 'NXDOMAIN' })),
  )
  await open(`moves.hook.test:${port}`, `ends.hook.test:${port}`)
  assert.equal(await kindOf(post(`http://moves.hook.test:${port}/`)), 'fine')
  assert.equal(await kindOf(post(`http://moves.hook.test:${port}/`)), 'connect')
  assert.equal(await kindOf(post(`http://ends.hook.test:${port}/`)), 'fine')
  assert.equal(await kindOf(post(`http://ends.hook.test:${port}/`)), 'dns')
  assert.equal(requests(), 2)
})

test('a connection is used for the host it was opened for, and for no other', async () => {
  const { port, connections } = await countConnections('http')
  const other = await countConnections('http')
  await open(`127.0.0.1:${port}`, `127.0.0.1:${other.port}`, `localhost:${port}`)
  const urls = [port, other.port, port].map((each) => `http://127.0.0.1:${each}/`)
  for (const url of urls) await post(url)
  await post(`http://localhost:${port}/`)
  assert.deepEqual([connections(), other.connections()], [3, 1])
  assert.equal(await kindOf(post('http://169.254.169.254/')), 'refused_destination')
})

test('a server that closes the connection between two calls has not failed', async () => {
  const sockets: Socket[] = []
  const port = await servers.http((request, response) => {
    sockets.push(request.socket)
    request.resume()
    response.end()
  })
  await open(`127.0.0.1:${port}`)
  for (let n = 1; n <= 3; n++) {
    assert.equal((await post(`http://127.0.0.1:${port}/`)).status, 200)
    sockets[n - 1]?.destroy()
  }
  assert.equal(new Set(sockets).size, 3)
})

test('a server that closes the connection as the second call arrives is called again, once', async () => {
  let connections = 0
  let cut = 0
  const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
  const port = await servers.raw((socket) => {
    connections++
    if (connections === 4) return void socket.destroy()
    socket.write(OK)
    socket.on('data', (chunk) => {
      // The rest of the first request may arrive separately.
      if (!String(chunk).startsWith('POST')) return
      cut++
      socket.destroy()
    })
  })
  await open(`127.0.0.1:${port}`)
  const url = `http://127.0.0.1:${port}/`
  assert.equal((await post(url)).status, 200)
  assert.equal((await post(url)).status, 200, 'on the second connection')
  assert.equal((await post(url)).status, 200, 'on the third')
  assert.deepEqual([connections, cut], [3, 2])
  assert.equal(await kindOf(post(url)), 'connect', 'a fresh connection that is cut is a failure')
  assert.deepEqual([connections, cut], [4, 3])
})

test('a response that was not read to its end, or never came, ends its connection', async () => {
  const sockets = new Set<Socket>()
  let closed = 0
  const port = await servers.http((request, response) => {
    sockets.add(request.socket)
    request.socket.on('close', () => closed++)
    request.resume()
    if (request.url === '/long') response.end('x'.repeat(1_000_000))
    if (request.url === '/short') response.end('x')
  })
  await open(`127.0.0.1:${port}`)
  const url = `http://127.0.0.1:${port}`
  assert.equal((await post(`${url}/long`)).complete, false)
  assert.equal((await post(`${url}/short`)).complete, true)
  assert.equal(await kindOf(post(`${url}/never`, 1_000)), 'timeout')
  assert.equal((await post(`${url}/short`)).complete, true)
  assert.equal(sockets.size, 3)
  line.close()
  await until('nothing stays open', () => closed === 4)
})

test('bytes that a server sends unasked are not read as the next response', async () => {
  let connections = 0
  const port = await servers.raw((socket) => {
    connections++
    // Sent together, since later bytes cannot be told from a response.
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' +
        'HTTP/1.1 299 Unasked\r\ncontent-length: 0\r\n\r\n',
    )
  })
  await open(`127.0.0.1:${port}`)
  assert.equal((await post(`http://127.0.0.1:${port}/`)).status, 200)
  assert.equal((await post(`http://127.0.0.1:${port}/`)).status, 200)
  assert.equal(connections, 2)
})
