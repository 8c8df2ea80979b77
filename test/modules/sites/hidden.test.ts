import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { assertEvenTimes } from '../../harness/even-times.ts'
import { requestText, talk } from '../../harness/raw-http.ts'
import { essence } from '../../harness/refusals.ts'
import {
  cacheAnswer,
  hostUrl,
  MANIFEST,
  openCachingApp,
  openHost,
  openLiveStore,
  resolveUrl,
  sendRaw,
  setStatus,
  siteUrl,
  titled,
} from './setup.ts'

const UNKNOWN = '{"error":{"code":"unknown_tenant","message":"No such store."}}'

/** A store of each kind that the public may not see, each with a site and a hostname. */
async function openHidden(app: TestApp) {
  await openLiveStore(app, 'shown')
  for (const tenant of ['draft', 'suspended']) {
    const merchant = await openLiveStore(app, tenant)
    await openHost(app, merchant, tenant, `${tenant}.example`)
    await setStatus(app, tenant, tenant)
  }
  await (await app.merchant('empty')).patch('/v1/my/store', { display_name: 'No site' })
  return ['draft', 'suspended', 'empty', 'unknown']
}

const ODD = [
  'SHOWN',
  'Shown',
  'shown.',
  '.shown',
  'sh.own',
  '%73hown%20',
  'shown%2e',
  '%2e%2e%2fshown',
  '-shown',
  'shown-',
  'sh',
  'x'.repeat(63),
  'x'.repeat(64),
  'x'.repeat(2_000),
  'sh%C3%B6wn',
  '%F0%9F%98%80',
  'shown%0a',
  'shown%09',
  "shown'--",
  'shown%25',
  'host:draft.example',
  '*',
]

/** So many connections that no store has to wait for its share of them: a wait would be longer than an answer. */
const UNPACED = { env: { DATABASE_POOL_MAX: '100' } }

describe('a store that the public may not see', () => {
  for (const live of [true, false]) {
    const how = live ? 'in memory' : 'in the database'
    test(`is answered like one that never existed, ${how}`, async (t) => {
      const app = live ? await openCachingApp(t) : await openTestApp(t)
      const hidden = await openHidden(app)
      assert.equal((await app.anyone.get(siteUrl('shown'))).status, 200)
      const wanted = essence(await app.anyone.get(siteUrl('never-existed')))
      assert.deepEqual([wanted.status, wanted.text], [404, UNKNOWN])
      const paths = [
        ...[...hidden, ...ODD].map(siteUrl),
        ...[...hidden, ...ODD].map(resolveUrl),
        ...['draft', 'suspended', 'unknown', 'no', 'sh own', 'a%2fb', '127.0.0.1', '*.draft'].map(
          (name) => `/v1/resolve?hostname=${name}.example`,
        ),
      ]
      const callers = {
        anyone: app.anyone,
        'a reader that takes anything': app.as({ 'if-none-match': '*' }),
        'a reader that takes brotli': app.as({ 'accept-encoding': 'br' }),
      }
      for (const path of paths) {
        for (const [who, caller] of Object.entries(callers)) {
          for (let round = 0; round < 2; round++) {
            assert.deepEqual(essence(await caller.get(path)), wanted, `${who}: ${path}`)
          }
        }
      }
      const dots = requestText('GET /v1/tenants/%2e%2e/site')
      assert.deepEqual((await talk(app.url, dots)).answers[0]?.text, UNKNOWN)
      const head = await sendRaw(app, siteUrl('draft'), { method: 'HEAD' })
      assert.deepEqual([head.status, head.body.length], [404, 0])
    })

    test(`is answered as fast as one that never existed, ${how}`, async (t) => {
      const app = live ? await openCachingApp(t, UNPACED) : await openTestApp(t, UNPACED)
      await openHidden(app)
      const names = ['draft', 'suspended', 'unknown']
      for (const url of [siteUrl, (name: string) => hostUrl(`${name}.example`)]) {
        const paths = names.map(url)
        if (live) for (const path of paths) await cacheAnswer(app, path)
        const calls = paths.map((path) => () => app.anyone.get(path))
        await assertEvenTimes(calls, { samples: 60 })
      }
    })
  }

  test('waits together with unknown store names, also after an operator and a storefront have used it', async (t) => {
    const app = await openTestApp(t)
    await openHidden(app)
    const { database } = app.runtime
    await app.operator.get('/v1/stores/draft')
    await app.storefront.get('/v1/tenants/draft/orders/1?customer_ref=ann')
    await app.anyone.get(siteUrl('draft'))
    assert.ok(!database.isKnown('draft'), 'a draft')
    await app.anyone.get(siteUrl('shown'))
    assert.ok(database.isKnown('shown'), 'a live store')
    await setStatus(app, 'shown', 'suspended')
    await app.anyone.get(siteUrl('shown'))
    assert.ok(!database.isKnown('shown'), 'a suspended store')
  })

  test('is hidden at once when its status is set, and visible at once when it is live', async (t) => {
    const app = await openCachingApp(t)
    const acme = await openLiveStore(app, 'acme')
    await openHost(app, acme, 'acme', 'acme.example')
    const paths = [siteUrl('acme'), resolveUrl('acme'), '/v1/resolve?hostname=acme.example']
    for (const status of ['suspended', 'live', 'draft', 'live']) {
      for (const path of paths) await app.anyone.get(path)
      await setStatus(app, 'acme', status)
      for (const path of paths) {
        assert.equal((await app.anyone.get(path)).status, status === 'live' ? 200 : 404, path)
      }
    }
    await setStatus(app, 'acme', 'suspended')
    assert.equal((await acme.put(MANIFEST, titled('two'))).status, 200, 'keys still work')
    assert.equal((await app.anyone.get(siteUrl('acme'))).status, 404)
  })
})
