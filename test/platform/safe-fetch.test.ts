import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { SafeFetchError } from '../../src/platform/safe-address.ts'
import {
  createSafeFetch,
  type SafeFetch,
  type SafeFetchOptions,
} from '../../src/platform/safe-fetch.ts'
import { FORBIDDEN_ADDRESSES, UNSAFE_URLS } from '../harness/address-vectors.ts'
import { type Canary, openCanary } from '../harness/canary.ts'
import { fixed, rebinding, startDns, type TestDns } from '../harness/dns.ts'
import { openServers, type Servers, TEST_CA } from '../harness/servers.ts'
import { openSilentHost } from '../harness/silent-host.ts'

let dns: TestDns
let canary: Canary
let servers: Servers
let opened: SafeFetch[] = []

before(async () => {
  dns = await startDns()
  canary = await openCanary()
})
after(async () => {
  await canary.close()
  await dns.close()
})
beforeEach(() => {
  canary.reset()
  servers = openServers()
})
afterEach(async () => {
  await Promise.all(opened.map((safe) => safe.close()))
  opened = []
  await servers.close()
})

function start(options: Partial<SafeFetchOptions> = {}): SafeFetch {
  const safe = createSafeFetch({
    testTargets: [],
    resolver: { servers: [dns.server] },
    ownAddresses: canary.hosts,
    timeoutMs: 5_000,
    ca: TEST_CA,
    ...options,
  })
  opened.push(safe)
  return safe
}

const post = (safe: SafeFetch, url: string, timeoutMs?: number) =>
  safe.send({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"a":1}'),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  })

async function kindOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'fine'
  } catch (error) {
    assert.ok(error instanceof SafeFetchError, String(error))
    assert.doesNotMatch(error.message, /\d|::|undici|Error/)
    return error.kind
  }
}

/** Calls `http://127.0.0.1` at the port of a test target. */
async function sendTo(port: number, timeoutMs = 5_000) {
  return post(start({ testTargets: [`127.0.0.1:${port}`] }), `http://127.0.0.1:${port}/`, timeoutMs)
}

test('the canary counts every call, also through a test target', async () => {
  const socket = connect(canary.port, '127.0.0.1').end('x')
  await once(socket, 'connect')
  assert.equal(await kindOf(sendTo(canary.port, 1_000)), 'timeout')
  assert.equal(await canary.connections(), 2)
})

test('reaches no canary by any unsafe URL', async () => {
  const safe = start()
  for (const [reason, ...urls] of UNSAFE_URLS) {
    for (const template of urls) {
      const url = template.replaceAll('PORT', String(canary.port))
      assert.equal(await kindOf(safe.check(url)), 'refused_destination', `${reason}: ${url}`)
      assert.equal(await kindOf(post(safe, url)), 'refused_destination', `${reason}: ${url}`)
    }
  }
  assert.equal(await canary.connections(), 0)
})

test('reaches no canary by a name that resolves to a special-purpose address', async () => {
  const safe = start()
  const addresses = FORBIDDEN_ADDRESSES.flatMap(([, ...list]) => list)
  for (const [index, address] of [...addresses, ...canary.hosts].entries()) {
    const name = `v${index}.hook.test`
    dns.set(name, fixed(address))
    const url = `https://${name}:${canary.port}/`
    assert.equal(await kindOf(safe.check(url)), 'refused_destination', address)
    assert.equal(await kindOf(post(safe, url)), 'refused_destination', address)
  }
  assert.equal(await canary.connections(), 0)
})

test('refuses a name when one of its addresses is not public', async () => {
  const safe = start()
  const mixes = [
    ['8.8.8.8', '127.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '::1'],
    ['2606:4700::1', '127.0.0.1'],
  ]
  for (const [index, mix] of mixes.entries()) {
    dns.set(`mix${index}.hook.test`, fixed(...mix))
    const url = `https://mix${index}.hook.test:${canary.port}/`
    assert.equal(await kindOf(safe.check(url)), 'refused_destination')
    assert.equal(await kindOf(post(safe, url)), 'refused_destination')
  }
  dns.set('alias.hook.test', (type) => ({
    cname: 'db.internal',
    addresses: type === 'A' ? ['127.0.0.1'] : [],
  }))
  assert.equal(
    await kindOf(post(safe, `https://alias.hook.test:${canary.port}/`)),
    'refused_destination',
  )
  assert.equal(await canary.connections(), 0)
})

test('refuses to start when an own address is not an address', () => {
  assert.throws(() => createSafeFetch({ testTargets: [], ownAddresses: ['fairdock.example'] }))
})

test('refuses a private address among so many that the DNS answer needs TCP', async () => {
  const publics = Array.from({ length: 60 }, (_, i) => `8.8.${i}.8`)
  dns.set('many.hook.test', fixed(...publics, '127.0.0.1'))
  dns.set('crowd.hook.test', fixed(...publics))
  const safe = start()
  assert.equal(await kindOf(safe.check('https://many.hook.test/')), 'refused_destination')
  assert.equal(await kindOf(safe.check('https://crowd.hook.test/')), 'fine')
})

test('refuses a name that turns private between the check and the call', async () => {
  dns.set('turn.hook.test', rebinding(fixed('8.8.8.8'), fixed('127.0.0.1')))
  const safe = start()
  const url = `https://turn.hook.test:${canary.port}/`
  assert.equal(await kindOf(safe.check(url)), 'fine')
  assert.equal(await kindOf(post(safe, url)), 'refused_destination')
  assert.equal(await canary.connections(), 0)
})

test('looks a name up once in a call and connects to an address of that answer', async () => {
  const port = await servers.http((_request, response) => response.end('mine'))
  dns.set('once.hook.test', rebinding(fixed('127.0.0.1'), fixed('127.0.0.2')))
  const safe = start({ testTargets: [`once.hook.test:${port}`] })
  const answer = await post(safe, `http://once.hook.test:${port}/`)
  assert.equal(answer.body.toString(), 'mine')
  assert.equal(dns.asked('once.hook.test'), 2, 'one question for A, one for AAAA')
})

test('sends no byte when the socket leads to another address than the given one', async () => {
  // The kernel takes 0.0.0.0 for loopback. Only the check of the open socket can detect that.
  const target = `0.0.0.0:${canary.port}`
  const safe = start({ testTargets: [target] })
  for (const scheme of ['http', 'https']) {
    assert.equal(await kindOf(post(safe, `${scheme}://${target}/`)), 'refused_destination')
  }
  await canary.connections()
  assert.equal(canary.bytes(), 0)
})

test('tries the next address when one refuses or stays silent', async (t) => {
  const port = await servers.http((_request, response) => response.end('second'))
  await openSilentHost(t, '127.0.0.7', port)
  dns.set('two.hook.test', fixed('127.0.0.3', '127.0.0.1'))
  dns.set('quiet.hook.test', fixed('127.0.0.7', '127.0.0.3', '127.0.0.1'))
  const safe = start({ testTargets: [`two.hook.test:${port}`, `quiet.hook.test:${port}`] })
  for (const name of ['two', 'quiet']) {
    const answer = await post(safe, `http://${name}.hook.test:${port}/`, 10_000)
    assert.equal(answer.body.toString(), 'second')
  }
})

test('tries at most four addresses', async () => {
  dns.set('herd.hook.test', fixed('127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6', '127.0.0.1'))
  const target = `herd.hook.test:${canary.port}`
  const safe = start({ testTargets: [target] })
  assert.equal(await kindOf(post(safe, `http://${target}/`)), 'connect')
  assert.equal(await canary.connections(), 0)
})

test('follows no redirect', async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `http://127.0.0.1:${canary.port}/`
    const port = await servers.http((_request, response) =>
      response.writeHead(status, { location }).end(),
    )
    const answer = await sendTo(port)
    assert.equal(answer.status, status)
    assert.equal(answer.headers.location, location)
  }
  assert.equal(await canary.connections(), 0)
})

test('ignores the proxy settings of the environment', async (context) => {
  const port = await servers.http((_request, response) => response.end('direct'))
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy']
  for (const name of names) process.env[name] = `http://127.0.0.1:${canary.port}`
  context.after(() => {
    for (const name of names) delete process.env[name]
  })
  assert.equal((await sendTo(port)).body.toString(), 'direct')
  assert.equal(await canary.connections(), 0)
})

test('sends method, path, headers and body as given, and closes the connection', async () => {
  let seen = ''
  const port = await servers.https((request, response) => {
    const { method, url, headers } = request
    assert.ok(request.socket instanceof TLSSocket)
    assert.equal(request.socket.servername, 'hook.test')
    seen = `${method} ${url} ${headers.host} ${headers.connection} ${headers['content-type']} `
    request.on('data', (chunk) => {
      seen += chunk
    })
    request.on('end', () => response.writeHead(201, { 'x-a': 'b' }).end('thanks'))
  })
  dns.set('hook.test', fixed('127.0.0.1'))
  const safe = start({ testTargets: [`hook.test:${port}`] })
  const answer = await post(safe, `https://hook.test:${port}/in?x=%20y`)
  assert.equal(seen, `POST /in?x=%20y hook.test:${port} close application/json {"a":1}`)
  assert.equal(answer.status, 201)
  assert.equal(answer.headers['x-a'], 'b')
  assert.equal(answer.body.toString(), 'thanks')
  assert.equal(answer.complete, true)
  assert.ok(answer.latencyMs >= 0 && answer.latencyMs <= 5_000)
})

test('trusts a certificate only from a known authority and for the right name', async () => {
  let requests = 0
  const port = await servers.https((_request, response) => {
    requests += 1
    response.end()
  })
  for (const name of ['hook.test', 'other.test']) dns.set(name, fixed('127.0.0.1'))
  const hosts = ['hook.test', 'other.test', '127.0.0.1', 'localhost']
  const testTargets = hosts.map((host) => `${host}:${port}`)
  const stranger = createSafeFetch({ testTargets, resolver: { servers: [dns.server] } })
  opened.push(stranger)
  assert.equal(await kindOf(post(stranger, `https://hook.test:${port}/`)), 'tls')
  const safe = start({ testTargets })
  assert.equal(await kindOf(post(safe, `https://other.test:${port}/`)), 'tls')
  assert.equal(requests, 0)
  for (const host of ['hook.test', '127.0.0.1', 'localhost']) {
    assert.equal(await kindOf(post(safe, `https://${host}:${port}/`)), 'fine', host)
  }
})
