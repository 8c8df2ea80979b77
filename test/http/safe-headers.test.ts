import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fillPath } from '../contract/paths.ts'
import { type Answer, type Caller, openTestApp } from '../harness/app.ts'
import { talk } from '../harness/raw-http.ts'
import { openShop } from '../modules/checkout/setup.ts'

const FEED = 'no-cache'
const PRIVATE = 'no-store'
/** What sections there are changes with the software alone. */
const OF_THE_SOFTWARE = 'public, max-age=3600'

function assertSafe({ status, headers }: Pick<Answer, 'status' | 'headers'>, what: string) {
  assert.equal(headers['x-content-type-options'], 'nosniff', `${what}: ${status}`)
  const expected = isOfTheContract(what) ? undefined : status < 400 ? keptAs(what) : PRIVATE
  assert.equal(headers['cache-control'], expected, `${what}: ${status}`)
}

function keptAs(what: string): string {
  if (/^(GET|HEAD) \/v1\/sections$/.test(what)) return OF_THE_SOFTWARE
  return /^(GET|HEAD) \/v1\/tenants\/[^/]+\/feeds/.test(what) ? FEED : PRIVATE
}

/** Reads of a site and a catalog: the contract has no `cache-control` on any answer of theirs. */
const isOfTheContract = (what: string) =>
  /^(GET|HEAD) \/v1\/(tenants\/[^/]+\/(site|catalog)\b|resolve)/.test(what)

test('every answer forbids guessing its type and caching, except where the contract and the feeds allow it', async (t) => {
  const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '100000' } })
  const shop = await openShop(app)
  const callers: Record<string, Caller> = {
    merchant: shop.merchant,
    owner: await app.owner('ann@acme.example'),
    public: app.anyone,
    operator: app.operator,
    storefront: app.storefront,
  }
  assert.ok(app.app.routeTable.length > 120)
  for (const { method, url, plane } of app.app.routeTable) {
    const path = fillPath(url, { tenant: 'acme' })
    const key = { 'idempotency-key': randomUUID() }
    const body = method === 'GET' ? undefined : {}
    const what = `${method} ${path}`
    assertSafe(await app.anyone.send(method, path, body, key), what)
    const caller = callers[plane]
    assert.ok(caller)
    assertSafe(await caller.send(method, path, body, key), what)
    assertSafe(await app.anyone.send('PURGE', path), `PURGE ${path}`)
    if (method === 'GET') assertSafe(await caller.send('HEAD', path), `HEAD ${path}`)
  }
})

test('answers without a route have the same safe headers', async (t) => {
  const app = await openTestApp(t)
  const odd = ['/', '/nowhere', '/v1/%zz', '/v1/%00', `/v1/${'x'.repeat(8_001)}`, '/docs/', '/docs']
  for (const path of odd) assertSafe(await app.anyone.get(path), `GET ${path}`)
  const host = 'host: x\r\n'
  const broken = [
    'GARBAGE\r\n\r\n',
    `GET / HTTP/1.1\r\n${host}${host}\r\n`,
    `GET / HTTP/1.1\r\n${host}expect: wonder\r\n\r\n`,
    `GET / HTTP/1.1\r\n${host}x: ${'y'.repeat(20_000)}\r\n\r\n`,
    'CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\n\r\n',
  ]
  for (const bytes of broken) {
    const [answer] = (await talk(app.url, bytes, { enough: 1 })).answers
    assert.ok(answer, bytes.slice(0, 40))
    assertSafe(answer, bytes.slice(0, 40))
  }
})

test('answers from memory have the safe headers too, also a 304', async (t) => {
  const app = await openTestApp(t, { live: true })
  await openShop(app)
  for (const path of [
    '/v1/tenants/acme/site',
    '/v1/resolve?tenant=acme',
    '/v1/tenants/acme/catalog/products',
    '/v1/tenants/acme/catalog/collections',
  ]) {
    const answers = [await app.anyone.get(path), await app.anyone.get(path)]
    const etag = answers[0]?.headers.etag ?? 'none'
    answers.push(await app.as({ 'if-none-match': etag }).get(path))
    for (const answer of answers) assertSafe(answer, `GET ${path}`)
    if (etag !== 'none') assert.equal(answers[2]?.status, 304)
  }
  for (let i = 0; i < 2; i++) {
    assertSafe(await app.anyone.get('/v1/tenants/nobodys/site'), 'GET /v1/tenants/nobodys/site')
  }
})
