import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { roleUrl } from '../../../src/db/roles.ts'
import { openTestApp } from '../../harness/app.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { until } from '../../harness/eventually.ts'
import { openProxy, type TestProxy } from '../../harness/proxy.ts'
import { share } from '../../harness/scope.ts'
import {
  cacheAnswer,
  hostUrl,
  openCachingApp,
  openHost,
  openLiveStore,
  resolveUrl,
  sendRaw,
  siteUrl,
  titled,
} from './setup.ts'

const caching = share((scope) => openCachingApp(scope))
let stores = 0

/** The next live store of the caching app, and its merchant. */
async function openStore() {
  const app = caching.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await openLiveStore(app, tenant) }
}

describe('resolving', () => {
  test('names the store, its site and its hosts', async () => {
    const { app, tenant, acme } = await openStore()
    const { store } = (await app.operator.get(`/v1/stores/${tenant}`)).body
    const plain = {
      tenantRef: tenant,
      storeNumber: store.store_number,
      status: 'live',
      manifestVersion: 1,
      ...titled('one'),
    }
    const bare = { hostname: null, canonicalHostname: null, redirect: null }
    assert.deepEqual((await app.anyone.get(resolveUrl(tenant))).body, { ...plain, ...bare })

    const main = await openHost(app, acme, tenant, 'shop.example')
    await openHost(app, acme, tenant, 'old.example')
    const shown = async (url: string) => (await app.anyone.get(url)).body
    const noneFirst = { hostname: 'old.example', canonicalHostname: null, redirect: null }
    await until('resolves', async () => (await app.anyone.get(hostUrl('old.example'))).status < 300)
    assert.deepEqual(await shown(hostUrl('old.example')), { ...plain, ...noneFirst })

    await acme.post(`/v1/merchant/domains/${main.id}/primary`)
    const canonicalHostname = 'shop.example'
    assert.deepEqual(await shown(hostUrl('old.example')), {
      ...plain,
      hostname: 'old.example',
      canonicalHostname,
      redirect: 'https://shop.example',
    })
    assert.deepEqual(await shown(hostUrl('shop.example')), {
      ...plain,
      hostname: 'shop.example',
      canonicalHostname,
      redirect: null,
    })
    assert.deepEqual(await shown(resolveUrl(tenant)), {
      ...plain,
      hostname: null,
      canonicalHostname,
      redirect: null,
    })
  })

  test('names the add-ons that pages depend on, under an ETag of their own, as soon as they change', async () => {
    const { app, tenant, acme } = await openStore()
    const { token } = (await acme.post('/v1/my/site/preview-token', { version: 1 })).body
    const tags = new Set<unknown>()
    /** The public answer and the one of the preview, which must say the same. */
    const shown = async () => {
      const { body, headers } = await app.anyone.get(resolveUrl(tenant))
      const preview = await app.anyone.get(`/v1/preview-resolve?token=${token}`)
      assert.deepEqual(preview.body.addOns, body.addOns)
      tags.add(headers.etag)
      return body.addOns
    }
    const { etag } = (await app.anyone.get(siteUrl(tenant))).headers
    assert.equal(await shown(), undefined)
    assert.deepEqual([...tags], [etag], 'a store without add-ons has the tag of its manifest')

    const switched = (verb: string, feature_key: string) =>
      acme.post(`/v1/merchant/entitlements/${verb}`, { feature_key })
    await switched('enable', 'subscriptions')
    assert.deepEqual(await shown(), ['subscriptions'])
    await switched('enable', 'subscribe_and_save')
    assert.deepEqual(await shown(), ['subscribe_and_save', 'subscriptions'])
    await switched('enable', 'affiliates')
    assert.deepEqual(await shown(), ['subscribe_and_save', 'subscriptions'], 'no page needs it')
    const path = `/v1/entitlements/tenants/${tenant}`
    await app.operator.put(`${path}/features/subscriptions`, { state: 'deny' })
    assert.deepEqual(await shown(), ['subscribe_and_save'])
    await app.operator.put(`${path}/tier`, { tier: 'growth' })
    assert.deepEqual(await shown(), ['gift_cards', 'store_credit', 'subscribe_and_save'])
    assert.equal(tags.size, 5)
    await app.operator.put(`${path}/tier`, { tier: 'standard' })
    await switched('disable', 'subscribe_and_save')
    assert.equal(await shown(), undefined)
    assert.equal(tags.size, 5)
  })

  test('accepts a host in any spelling', async () => {
    const { app, tenant, acme } = await openStore()
    await openHost(app, acme, tenant, 'bücher.example')
    const canonical = 'xn--bcher-kva.example'
    await until('resolves', async () => (await app.anyone.get(hostUrl(canonical))).status === 200)
    const spellings = [
      canonical,
      'XN--BCHER-KVA.example',
      'bücher.example',
      'BÜCHER.Example',
      'bu\u0308cher.example',
      'bücher.example.',
      'bücher。example',
      `${canonical}:443`,
      `${canonical}.:8080`,
    ]
    const { etag } = (await app.anyone.get(siteUrl(tenant))).headers
    for (const spelling of spellings) {
      const { status, body, headers } = await app.anyone.get(hostUrl(spelling))
      assert.deepEqual([status, body.hostname, headers.etag], [200, canonical, etag], spelling)
      const known = app.as({ 'if-none-match': etag ?? '' })
      assert.equal((await known.get(hostUrl(spelling))).status, 304)
    }
    const others = [
      'www.bücher.example',
      'example',
      'bücher.example/x',
      'bücher.example:x',
      'bücher.example:443:443',
      'a@bücher.example',
      'https://bücher.example',
      'bücher..example',
      '..',
      '\u0001',
      'x'.repeat(5_000),
    ]
    for (const other of others) {
      const { status, body } = await app.anyone.get(hostUrl(other))
      assert.deepEqual([status, body.error?.code], [404, 'unknown_tenant'], other)
    }
  })

  test('accepts either a host or a slug, and not both', async (t) => {
    const app = await openTestApp(t)
    await openLiveStore(app, 'acme')
    const queries = ['', '?', '?tenant=', '?hostname=', '?tenant=acme&hostname=acme.example']
    for (const query of [...queries, '?store=acme', '?Tenant=acme', '?tenant=%20']) {
      const { status, body } = await app.anyone.get(`/v1/resolve${query}`)
      assert.deepEqual([status, body.error.code], [400, 'invalid_query'], query)
    }
    for (const query of ['?tenant=acme&hostname=', '?tenant=acme&x=1', '?x=1&tenant=acme']) {
      assert.equal((await app.anyone.get(`/v1/resolve${query}`)).status, 200, query)
    }
  })

  test('ends at once when the domain is removed', async () => {
    const { app, tenant, acme } = await openStore()
    for (let round = 0; round < 10; round++) {
      const url = hostUrl(`round-${round}.example`)
      const { id } = await openHost(app, acme, tenant, `round-${round}.example`)
      await cacheAnswer(app, url)
      const gone = await acme.send('DELETE', `/v1/merchant/domains/${id}`)
      assert.equal(gone.status, 200, gone.text)
      assert.equal((await app.anyone.get(url)).status, 404, 'after the call has answered')
    }
  })

  test('begins at once when the domain is active, also before its notification arrives', async (t) => {
    const database = await openTestDatabase(t)
    const direct = new URL(roleUrl(database.url, 'fd_app', database.secretKey))
    const news = await openProxy(t, Number(direct.port))
    direct.host = `127.0.0.1:${news.port}`
    const app = await openCachingApp(t, { database, env: { DATABASE_DIRECT_URL: direct.href } })
    const acme = await openLiveStore(app, 'acme')
    await cacheAnswer(app, hostUrl('early.example'))
    news.silence()
    await openHost(app, acme, 'acme', 'early.example')
    assert.equal((await app.anyone.get(hostUrl('early.example'))).status, 200)
  })

  test('resolving a host that moves to another store answers with that store', async () => {
    const { app, tenant, acme } = await openStore()
    const { tenant: other, acme: globex } = await openStore()
    const url = hostUrl('moves.example')
    const claimed = await globex.post('/v1/merchant/domains', { hostname: 'moves.example' })
    const before = await openHost(app, acme, tenant, 'moves.example')
    await cacheAnswer(app, url)
    await acme.send('DELETE', `/v1/merchant/domains/${before.id}`)
    // No other store can claim it during the quarantine, unless it did so before.
    await app.operator.post(`/v1/stores/${other}/domains/${claimed.body.domain.id}/activate`)
    assert.equal((await app.anyone.get(url)).body.tenantRef, other)
  })
})

describe('a database that is unavailable', () => {
  test('is a 503 for every public read, never an empty answer, and reads work again later', async (t) => {
    let proxy: TestProxy | undefined
    const app = await openTestApp(t, {
      databaseUrl: async (url) => {
        const through = new URL(url)
        proxy = await openProxy(t, Number(through.port))
        through.host = `127.0.0.1:${proxy.port}`
        return through.href
      },
    })
    const acme = await openLiveStore(app, 'acme')
    await openHost(app, acme, 'acme', 'acme.example')
    const { token } = (await acme.post('/v1/my/site/preview-token', { version: 1 })).body
    const reads = {
      [siteUrl('acme')]: 'resolve_unavailable',
      [siteUrl('nobody')]: 'resolve_unavailable',
      [resolveUrl('acme')]: 'resolve_unavailable',
      [hostUrl('acme.example')]: 'resolve_unavailable',
      [`/v1/preview-resolve?token=${token}`]: 'service_unavailable',
    }
    await proxy?.cut()
    for (const [path, code] of Object.entries(reads)) {
      const answer = await sendRaw(app, path, { headers: { 'if-none-match': '*' } })
      const { error } = JSON.parse(answer.body.toString())
      assert.deepEqual([answer.status, error.code], [503, code], path)
      assert.equal(answer.headers.etag, undefined)
    }
    await proxy?.mend()
    for (const path of Object.keys(reads)) {
      const wanted = path === siteUrl('nobody') ? 404 : 200
      await until(path, async () => (await sendRaw(app, path)).status === wanted)
    }
  })
})
