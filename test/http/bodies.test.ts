import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Type } from 'typebox'
import { OpenObject } from '../../src/kernel/schema.ts'
import { openTestApp, type TestApp } from '../harness/app.ts'
import { openBareServer } from '../harness/bare-server.ts'
import { requestText, talk } from '../harness/raw-http.ts'
import { ECHO, isRefusal } from '../harness/refusals.ts'
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

/** The same on the merchant plane, with a key that has the scope. */
const patch = (body: string) =>
  requestText(
    'PATCH /v1/my/store',
    {
      authorization: `Bearer ${merchantKey}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    },
    body,
  )

describe('a body that is not I-JSON is 400 invalid_body', () => {
  const bodies: Record<string, string | Buffer> = {
    'half an object': `{"${ECHO}":`,
    'no JSON at all': ECHO,
    'two values': `{}{"${ECHO}":1}`,
    'one value 400,000 deep': '['.repeat(400_000) + ']'.repeat(400_000),
    'a duplicate key': `{"email":"${ECHO}","email":"b"}`,
    'a duplicate key, once escaped': `{"email":"${ECHO}","\\u0065mail":"b"}`,
    __proto__: `{"__proto__":{"${ECHO}":1}}`,
    '__proto__, escaped': `{"__pr\\u006fto__":{"${ECHO}":1}}`,
    'U+0000': `{"email":"${ECHO}\\u0000"}`,
    'a lone surrogate': `{"email":"${ECHO}\\ud800"}`,
    'a number beyond all bounds': `{"${ECHO}":1e400}`,
    'a byte order mark': `\ufeff{"email":"${ECHO}"}`,
    'bytes that are no UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    'nothing, where something is needed': '',
    'a bare null': 'null',
    'a list': '[]',
  }
  for (const [name, body] of Object.entries(bodies)) {
    test(name, async () => {
      const { answers } = await talk(app.url, login(body))
      assert.equal(answers.length, 1)
      isRefusal(answers[0], 'invalid_body')
      await isAlive()
    })
  }

  test('on an authenticated plane the body also has its correlation id', async () => {
    const { answers } = await talk(app.url, patch(`{"${ECHO}":`))
    isRefusal(answers[0], 'invalid_body', true)
  })

  test('a route that needs no body still refuses a broken one', async () => {
    const request = requestText(
      'POST /v1/my/credentials/none/revoke',
      {
        authorization: `Bearer ${merchantKey}`,
        'content-type': 'application/json',
        'content-length': '1',
      },
      '{',
    )
    const { answers } = await talk(app.url, request)
    isRefusal(answers[0], 'invalid_body', true)
  })
})

describe('a body that arrives incomplete or in another form', () => {
  test('is 400 when it ends before its length', async () => {
    const half = login(`{"${ECHO}":`, { 'content-length': '100' })
    const { answers, isClosed } = await talk(app.url, half, { thenEnds: true })
    isRefusal(answers[0], 'invalid_request')
    assert.ok(isClosed)
    await isAlive()
  })

  test('is 400 when its chunks are garbage', async () => {
    const chunked = requestText(
      'POST /v1/identity/login',
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      `zz\r\n${ECHO}`,
    )
    const { answers, isClosed } = await talk(app.url, chunked)
    isRefusal(answers[0], 'invalid_request')
    assert.ok(isClosed)
  })

  test('is 413 when its length is over 1 MiB', async () => {
    const { answers } = await talk(app.url, login('', { 'content-length': '1048577' }))
    isRefusal(answers[0], 'body_too_large')
  })

  test('is 413 when its chunks grow over 1 MiB', async () => {
    const big = ' '.repeat(1_048_577)
    const chunked = requestText(
      'POST /v1/identity/login',
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`,
    )
    const { answers } = await talk(app.url, chunked)
    isRefusal(answers[0], 'body_too_large')
  })

  test('a body of exactly 1 MiB is accepted', async () => {
    const { answers } = await talk(app.url, login(`{}${' '.repeat(1_048_574)}`))
    isRefusal(answers[0], 'invalid_body')
  })

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset="utf-16"',
    'application/jsonp',
    'application/problem+json',
    'json',
    '',
  ]) {
    test(`is 415 as ${type || 'nothing'}`, async () => {
      const { answers } = await talk(app.url, login('{}', { 'content-type': type }))
      isRefusal(answers[0], 'unsupported_media_type')
    })
  }

  test('is 415 without a content type', async () => {
    const bare = requestText('POST /v1/identity/login', { 'content-length': '2' }, '{}')
    isRefusal((await talk(app.url, bare)).answers[0], 'unsupported_media_type')
  })

  test('is 415 when it is compressed', async () => {
    const { answers } = await talk(app.url, login('{}', { 'content-encoding': 'gzip' }))
    isRefusal(answers[0], 'unsupported_media_type')
  })

  for (const type of [
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'APPLICATION/JSON',
  ]) {
    test(`is read as ${type}`, async () => {
      const { answers } = await talk(app.url, login('{}', { 'content-type': type }))
      isRefusal(answers[0], 'invalid_body')
    })
  }
})

describe('values of another type are refused, never converted', () => {
  const cases: [what: string, body: unknown, path: string][] = [
    ['a number for a text', { display_name: 5 }, 'display_name'],
    ['a boolean for a text', { display_name: true }, 'display_name'],
    ['null for a text', { display_name: null }, 'display_name'],
    ['a list for a text', { display_name: ['a'] }, 'display_name'],
    ['an empty text', { display_name: '' }, 'display_name'],
    ['a text that does not fit its pattern', { currency: ECHO }, 'currency'],
  ]
  for (const [what, body, path] of cases) {
    test(what, async () => {
      const { answers } = await talk(app.url, patch(JSON.stringify(body)))
      isRefusal(answers[0], 'invalid_body', true)
      const { issues } = JSON.parse(answers[0]?.text ?? '')
      assert.deepEqual(
        issues.map((issue: { path: string }) => issue.path),
        [path],
      )
    })
  }

  test('names the position in a list', async () => {
    const merchant = await app.merchant('acme')
    const answer = await merchant.post('/v1/my/credentials', {
      label: 'x',
      scopes: ['read:own_store', 1],
    })
    assert.equal(answer.status, 400)
    assert.equal(answer.body.issues[0].path, 'scopes.1')
  })

  test('unknown members are ignored', async () => {
    const merchant = await app.merchant('acme')
    const sent = { display_name: 'Renamed', [ECHO]: { any: [1, null] } }
    const answer = await merchant.patch('/v1/my/store', sent)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.store.display_name, 'Renamed')
  })

  test('all faults are named at once, without the sent values, up to a maximum number', async () => {
    const merchant = await app.merchant('acme')
    const product = { name: ECHO.repeat(400), status: ECHO, subscription_interval: 5 }
    const answer = await merchant.post('/v1/merchant/catalog/products', product)
    isRefusal(answer, 'invalid_body', true)
    const named = new Set(answer.body.issues.map(({ path }: { path: string }) => path))
    assert.deepEqual([...named], ['slug', 'name', 'status', 'subscription_interval'])
    assert.ok(answer.body.issues.every(({ message }: { message: string }) => message.length > 5))
    const lines = Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? ECHO : { asset_ref: n }))
    const url = '/v1/merchant/catalog/products/x/images'
    const many = await merchant.put(url, { images: lines.slice(0, 4) })
    assert.deepEqual(
      many.body.issues.map(({ path }: { path: string }) => path),
      ['images.0', 'images.1.asset_ref', 'images.2', 'images.3.asset_ref'],
    )
    const most = await merchant.put(url, { images: lines.slice(0, 50) })
    assert.equal(most.body.issues.length, 20)
    assert.ok(!most.text.includes(ECHO))
  })

  test('a list that is too long is one fault, and a long text is not matched against a pattern', async () => {
    const merchant = await app.merchant('acme')
    const url = '/v1/merchant/catalog/products/x/images'
    const since = performance.now()
    const images = Array.from({ length: 5_000 }, () => 1)
    const answer = await merchant.put(url, { images })
    assert.deepEqual([answer.status, answer.body.issues.length], [400, 1])
    assert.equal(answer.body.issues[0].path, 'images')
    // Quadratic, the pattern of a name would take minutes for this text.
    const name = `${'x'.repeat(500_000)}\u0007`
    const long = await merchant.post('/v1/merchant/catalog/products', { slug: 'a', name })
    assert.match(long.body.issues[0].message, /300/)
    assert.ok(performance.now() - since < 60_000)
  })

  test('every PATCH names the members that it does not know, and never shows a name with odd characters', async () => {
    const routes = app.app.routeTable.filter(({ method }) => method === 'PATCH')
    assert.ok(routes.length > 8)
    const merchant = await app.merchant('acme')
    const sent = { time_zone: 'UTC', colour: 'x', prize: 1, '4111 1111 1111 1111': 1 }
    const { status, body } = await merchant.patch('/v1/my/store', sent)
    assert.deepEqual([status, body.ignored], [200, ['colour', 'prize', '*']])
    const none = await merchant.patch('/v1/my/store', { time_zone: 'UTC' })
    assert.deepEqual(none.body.ignored, [])
    const refused = await merchant.patch('/v1/my/store', { time_zone: 'Nowhere', prize: 1 })
    assert.deepEqual([refused.status, refused.body.ignored], [400, undefined])
    const made = await merchant.post('/v1/merchant/catalog/products', { slug: 'p', name: 'P' })
    const product = `/v1/merchant/catalog/products/${made.body.product.id}`
    const patched = await merchant.patch(product, { name: 'Q', price_cents: 1 })
    assert.deepEqual([patched.status, patched.body.ignored], [200, ['price_cents']])
  })

  test('a handler gets the members that its route knows, exactly as they were sent', async (t) => {
    const { url } = await openBareServer(t, async (app) => {
      const Few = Type.Object({
        a: Type.Optional(Type.String()),
        b: Type.Optional(Type.String({ default: 'not asked for' })),
      })
      const options = { schema: { body: Few, response: { 200: OpenObject } } }
      app.post('/echo', options, async ({ body }) => body)
    })
    const text = '{"z":1,"a":" X ","extra":{"deep":[1,null,{}],"total_cents":"2"},"e":1.5e2}'
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/echo`, { method: 'POST', headers, body: text })
    assert.deepEqual(await answer.json(), { a: ' X ' })
  })
})

test('an error lists the allowed values, and describes the expected form', async (t) => {
  const app = await openTestApp(t)
  await app.store('acme')
  const status = await app.operator.put('/v1/stores/acme/status', { status: 'open' })
  assert.deepEqual(status.body.issues, [
    { path: 'status', message: 'must be one of draft, live, suspended' },
  ])
  const slug = await app.operator.post('/v1/stores', { tenant_ref: 'A B', display_name: 'x' })
  assert.match(slug.body.issues[0].message, /3 to 63 lower-case letters/)
})
