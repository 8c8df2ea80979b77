import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { ERRORS } from '../../src/compose/errors.ts'
import type { ErrorCode } from '../../src/error-codes.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { requestText, talk } from '../harness/raw-http.ts'
import { ECHO, isRefusal, UUID } from '../harness/refusals.ts'
import { suiteScope } from '../harness/scope.ts'

let app: TestApp
let merchantKey: string
const scope = suiteScope()

before(async () => {
  app = await openTestApp(scope, {
    env: { RATE_LIMIT_FAILED_PER_MINUTE: '100000' },
  })
  merchantKey = await app.key('acme')
})

const isAlive = async () => assert.equal((await app.anyone.get('/healthz')).status, 200)

/** A request to a public route that takes a body. */
const login = (body: string | Buffer, headers: Record<string, string | string[]> = {}) => {
  const text = Buffer.from(body)
  const head = requestText('POST /v1/identity/login', {
    'content-type': 'application/json',
    'content-length': String(text.length),
    ...headers,
  })
  return Buffer.concat([Buffer.from(head), text])
}

describe('a request line', () => {
  const lines: [what: string, line: string, code: ErrorCode][] = [
    ['of an unknown route', `GET /${ECHO}`, 'route_not_found'],
    ['with a trailing slash', 'GET /healthz/', 'route_not_found'],
    ['with a slash too many', 'GET //healthz', 'route_not_found'],
    ['for the whole server', 'OPTIONS *', 'route_not_found'],
    ['of 5,000 characters', `GET /${'a'.repeat(5_000)}`, 'route_not_found'],
    ['of 9,000 characters', `GET /${'a'.repeat(9_000)}`, 'uri_too_long'],
    ['longer than all headers may be', `GET /${'a'.repeat(20_000)}`, 'headers_too_large'],
    ['with a broken escape', 'GET /v1/%zz', 'invalid_request'],
    ['with a broken escape in a parameter', 'GET /v1/stores/%ff/audit', 'invalid_request'],
    ['with U+0000', 'GET /v1/%00', 'invalid_request'],
    ['with an unknown method', 'FOO /healthz', 'invalid_request'],
    ['that requests a tunnel', 'CONNECT example.com:443', 'invalid_request'],
    ['without a path', 'GET', 'invalid_request'],
  ]
  for (const [what, line, code] of lines) {
    test(`a request line that is ${what} is ${ERRORS[code][0]}`, async () => {
      const { answers, isClosed } = await talk(app.url, requestText(line))
      assert.equal(answers.length, 1)
      isRefusal(answers[0], code)
      assert.ok(isClosed)
    })
  }

  test('a request line with the longest reference that a customer may have finds its route', async () => {
    const path = `/v1/merchant/customers/${encodeURIComponent('😀'.repeat(200))}`
    const { answers } = await talk(app.url, requestText(`GET ${path}`))
    isRefusal(answers[0], 'unauthorized')
  })

  test('a request line with a long query finds its route', async () => {
    const { answers } = await talk(app.url, requestText(`GET /healthz?x=${'a'.repeat(7_000)}`))
    assert.equal(answers[0]?.status, 200)
  })

  test('a request line in the form that proxies use is understood', async () => {
    const { answers } = await talk(app.url, requestText('GET http://example.com/healthz'))
    assert.equal(answers[0]?.status, 200)
  })

  for (const method of ['PROPFIND', 'OPTIONS', 'TRACE', 'DELETE', 'QUERY', 'POST']) {
    test(`a path with GET alone answers 405 to ${method} and names the allowed methods`, async () => {
      const { answers } = await talk(app.url, requestText(`${method} /healthz`))
      isRefusal(answers[0], 'method_not_allowed')
      assert.equal(answers[0]?.headers.allow, 'GET, HEAD')
    })
  }

  test('405 names every method of a path with parameters', async () => {
    const line = 'DELETE /v1/entitlements/tenants/acme/features/x'
    const { answers } = await talk(app.url, requestText(line))
    isRefusal(answers[0], 'method_not_allowed')
    assert.equal(answers[0]?.headers.allow, 'GET, HEAD, PUT')
  })

  test('a request without a route is refused before its body is read', async () => {
    const headers = { 'content-type': 'text/plain', 'content-length': '1' }
    const unknown = await talk(app.url, requestText(`POST /${ECHO}`, headers, '{'))
    isRefusal(unknown.answers[0], 'route_not_found')
    const wrong = await talk(app.url, requestText('POST /healthz', headers, '{'))
    isRefusal(wrong.answers[0], 'method_not_allowed')
  })

  test('HEAD answers like GET, without the body', async () => {
    for (const [caller, url] of [
      [app.anyone, '/healthz'],
      [await app.merchant('acme'), '/v1/my/store'],
    ] as const) {
      const [head, get] = [await caller.send('HEAD', url), await caller.get(url)]
      assert.equal(head.status, 200)
      assert.equal(head.text, '')
      assert.equal(head.headers['content-length'], get.headers['content-length'])
    }
    assert.equal((await app.anyone.send('HEAD', '/v1/my/store')).status, 401)
  })
})

describe('headers', () => {
  test('without a host are 400', async () => {
    const { answers } = await talk(app.url, 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n')
    isRefusal(answers[0], 'invalid_request')
  })

  test('a request with two hosts is 400', async () => {
    const twice = requestText('GET /healthz', { host: ['localhost', ECHO] })
    isRefusal((await talk(app.url, twice)).answers[0], 'invalid_request')
  })

  for (const name of [
    'Authorization',
    'x-operator-token',
    'X-Storefront-Token',
    'idempotency-key',
  ]) {
    test(`a request that sends ${name} twice is 400, even if one of the two is right`, async () => {
      const right = name === 'Authorization' ? `Bearer ${merchantKey}` : ECHO
      for (const values of [
        [right, 'wrong'],
        ['wrong', right],
        [right, right],
      ]) {
        const twice = requestText('GET /v1/merchant/orders', { [name]: values })
        isRefusal((await talk(app.url, twice)).answers[0], 'invalid_request', true)
      }
    })
  }

  test('a request of HTTP/1.0 needs no host', async () => {
    const { answers, isClosed } = await talk(app.url, 'GET /healthz HTTP/1.0\r\n\r\n')
    assert.equal(answers[0]?.status, 200)
    assert.ok(isClosed)
  })

  test('beyond 16 KiB are 431', async () => {
    const { answers } = await talk(app.url, requestText('GET /healthz', { a: 'x'.repeat(17_000) }))
    isRefusal(answers[0], 'headers_too_large')
  })

  test('a request that expects 100-continue gets it, and then the answer', async () => {
    const { answers } = await talk(app.url, login('{}', { expect: '100-continue' }))
    assert.equal(answers[0]?.status, 100)
    isRefusal(answers[1], 'invalid_body')
  })

  test('a request that expects anything but 100-continue is 417', async () => {
    const { answers, isClosed } = await talk(app.url, login('{}', { expect: ECHO }))
    isRefusal(answers[0], 'expectation_failed')
    assert.ok(isClosed)
  })

  test('cannot change the correlation id', async () => {
    const answer = await app.as({ 'x-correlation-id': ECHO, 'request-id': ECHO }).get('/healthz')
    assert.match(answer.headers['x-correlation-id'] ?? '', UUID)
  })
})

describe('a request inside a request is not answered', () => {
  const hidden = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
  const shapes: Record<string, Record<string, string | string[]>> = {
    'a length and chunks': { 'content-length': '5', 'transfer-encoding': 'chunked' },
    'two lengths': { 'content-length': ['0', '42'] },
    'a length that is a list': { 'content-length': '0, 42' },
    'a length with a sign': { 'content-length': '+0' },
    'chunks that are not last': { 'transfer-encoding': 'chunked, identity' },
    'chunks spelt oddly': { 'transfer-encoding': 'xchunked' },
    'space before the colon': { 'content-length ': '0' },
  }
  for (const [name, headers] of Object.entries(shapes)) {
    test(name, async () => {
      const kept = { connection: 'keep-alive', 'content-type': 'application/json', ...headers }
      const request = requestText('POST /v1/identity/login', kept, `0\r\n\r\n${hidden}`)
      const { answers, isClosed } = await talk(app.url, request)
      assert.equal(answers.length, 1)
      isRefusal(answers[0], 'invalid_request')
      assert.ok(isClosed)
    })
  }
})

describe('input that is not HTTP', () => {
  const noise: Record<string, string | Buffer> = {
    'a TLS hello': Buffer.from('16030100a5010000a1030300112233', 'hex'),
    'a binary blob': Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 7 + 13) % 256)),
    'a word': `${ECHO}\r\n\r\n`,
    'the greeting of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(noise)) {
    test(`${name} gets one answer, and the connection ends`, async () => {
      const { answers, isClosed } = await talk(app.url, bytes)
      assert.equal(answers.length, 1)
      isRefusal(answers[0], 'invalid_request')
      assert.ok(isClosed)
      await isAlive()
    })
  }

  test('does not get the answer of the valid request before it', async () => {
    const good = requestText('GET /v1/my/store', {
      authorization: `Bearer ${merchantKey}`,
      connection: 'keep-alive',
    })
    const { answers, isClosed } = await talk(app.url, `${good}${ECHO} again\r\n\r\n`)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400],
    )
    isRefusal(answers[1], 'invalid_request')
    assert.ok(isClosed)
  })
})

test('the refusal of a key without a scope names that scope', async () => {
  const { body } = await (await app.merchant('acme', 'read:own_orders')).get('/v1/my/store')
  const { correlationId, ...error } = body.error
  assert.deepEqual(error, {
    code: 'forbidden',
    message: 'The key lacks the scope read:own_store. Use a key that has it.',
  })
  assert.match(correlationId, UUID)
})

test('a person gets a page for an unknown address, and a program gets JSON', async () => {
  const accept = 'text/html,application/xhtml+xml'
  const page = await fetch(`${app.url}/nowhere?x=<b>`, { headers: { accept } })
  assert.deepEqual(
    [page.status, page.headers.get('content-type')],
    [404, 'text/html; charset=utf-8'],
  )
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  const text = await page.text()
  assert.match(text, /<h1>There is no page here<\/h1>/)
  assert.doesNotMatch(text, /<b>/)
  for (const path of ['/v1/nowhere', '/nowhere']) {
    const headers = path === '/nowhere' ? { accept: '*/*' } : { accept }
    const answer = await fetch(app.url + path, { headers })
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  }
  // A button of a mailed page that another site presses.
  const refused = await fetch(`${app.url}/v1/newsletter/x`, {
    method: 'POST',
    headers: { accept, origin: 'https://evil.example' },
    body: new URLSearchParams(),
  })
  assert.equal(refused.status, 403)
  assert.match(await refused.text(), /<h1>That did not work<\/h1>[\s\S]*csrf_required/)
})

test('an error has its correlation id only where the id reveals nothing', async () => {
  const all = await app.merchant('acme')
  const revoke = '/v1/my/credentials/00000000-0000-4000-8000-000000000000/revoke'
  isRefusal(await app.anyone.get('/v1/my/store'), 'unauthorized', false)
  isRefusal(await app.anyone.get('/v1/stores'), 'unauthorized', false)
  isRefusal(await app.anyone.get(`/${ECHO}`), 'route_not_found', false)
  isRefusal(await all.post(revoke), 'credential_not_found', false)
  isRefusal(await app.operator.get(`/v1/stores/${ECHO}/audit`), 'unknown_tenant', false)
  isRefusal(await app.anyone.post('/v1/identity/login', {}), 'invalid_body', false)
  isRefusal(await app.operator.post('/v1/stores', {}), 'invalid_body', true)
  const store = { tenant_ref: 'acme', display_name: 'Again' }
  isRefusal(await app.operator.post('/v1/stores', store), 'tenant_exists', true)
  assert.match((await all.get('/v1/my/store')).headers['x-correlation-id'] ?? '', UUID)
})
