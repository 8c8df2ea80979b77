import assert from 'node:assert/strict'
import { get } from 'node:http'
import { before, test } from 'node:test'
import { createCache } from '../../storefront/api/cache.ts'
import {
  openPlatformClient,
  PlatformError,
  type PublicAnswer,
} from '../../storefront/api/platform-client.ts'
import { openStoreApi } from '../../storefront/api/store-api.ts'
import type { Resolved } from '../../storefront/api/types.ts'
import { homePage } from '../../storefront/catalog/catalog-pages.ts'
import { richText } from '../../storefront/catalog/manifest-sections.ts'
import { PER_PAGE } from '../../storefront/catalog/pager.ts'
import { openStaticFiles } from '../../storefront/http/static-files.ts'
import { watchKept } from '../../storefront/kept-bytes.ts'
import { cachedPage } from '../../storefront/layout/page.ts'
import type { PageContext } from '../../storefront/request-context.ts'
import { readSite, type Site } from '../../storefront/site/site.ts'
import { STOREFRONT_TOKEN } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo'])
})

/** Longer than a site counts as fresh. */
const STALE_MS = 1_100

test('a site is read again by its ETag, and stays the same object until another is published', async (t) => {
  const client = openPlatformClient({ url: () => shop.url, token: STOREFRONT_TOKEN })
  t.after(() => client.close())
  const reads: PublicAnswer[] = []
  const watched = {
    ...client,
    readPublic: async (...given: Parameters<typeof client.readPublic>) => {
      const read = await client.readPublic(...given)
      reads.push(read)
      return read
    },
  }
  const { findSite } = openStoreApi({ client: watched, zone: 'localhost' })
  // The test sets the time itself: a busy machine may take longer than a site is fresh.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const first = await findSite('demo.localhost')
  assert.equal(await findSite('demo.localhost'), first)
  assert.equal(reads.length, 1, 'a fresh site is not read again')
  t.mock.timers.tick(STALE_MS)
  assert.equal(await findSite('demo.localhost'), first)
  assert.deepEqual(
    reads.map(({ unchanged }) => unchanged),
    [false, true],
  )
  const merchant = await shop.merchant('demo')
  const manifest = { brand: { name: 'Anew' }, template: { id: 'home', sections: [] } }
  assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
  t.mock.timers.tick(STALE_MS)
  assert.equal((await findSite('demo.localhost'))?.brand.name, 'Anew')
})

test('a draft is read and rendered once while its preview is valid, and checked each time', async (t) => {
  const client = openPlatformClient({ url: () => shop.url, token: STOREFRONT_TOKEN })
  t.after(() => client.close())
  let reads = 0
  const readPublic: typeof client.readPublic = (...given) => {
    reads += 1
    return client.readPublic(...given)
  }
  const { findPreview } = openStoreApi({ client: { ...client, readPublic }, zone: 'localhost' })
  const merchant = await shop.merchant('demo')
  const draftOf = async (name: string) => {
    const manifest = { brand: { name } }
    const { version } = (await merchant.put('/v1/my/site/draft', { manifest })).body
    const { body } = await merchant.post('/v1/my/site/preview-token', { version })
    return body.token as string
  }
  const token = await draftOf('First')
  const first = await findPreview('demo.localhost', token)
  assert.equal(first?.brand.name, 'First')
  assert.equal(await findPreview('demo.localhost', token), first)
  const other = await findPreview('demo.localhost', await draftOf('Second'))
  assert.equal(other?.brand.name, 'Second')
  assert.equal(await findPreview('demo.localhost', token), first)
  assert.equal(reads, 4)
})

test('the rendered parts of a site count in the weight of the cache at once, and push out the oldest sites', async () => {
  const siteOf = () => readSite({ tenantRef: 'demo', manifest: {} } as Resolved, 'hash')
  const cache = createCache<{ site: Site }>({
    freshMs: 0,
    weightMax: 5_000,
    keeperOf: ({ site }) => site,
  })
  const loads: string[] = []
  const get = (key: string) =>
    cache.get(key, async (known) => {
      if (known === undefined) loads.push(key)
      return { value: known ?? { site: siteOf() }, weight: 10 }
    })
  await get('old')
  const { site } = await get('heavy')
  await get('old')
  const props = { heading: null, body: 'word '.repeat(600) }
  const shown = richText({ site } as PageContext, props)
  assert.equal(richText({ site } as PageContext, props), shown, 'it is rendered once')
  await get('new')
  await get('old')
  await get('new')
  assert.deepEqual(loads, ['old', 'heavy', 'new'], 'the heavy site alone is dropped')
  await get('heavy')
  assert.deepEqual(loads, ['old', 'heavy', 'new', 'heavy'])
})

test('pages that are kept with an answer of the catalog count in the weight of the cache', async () => {
  const hash = 'hash'
  const answer = { product: {} }
  const cache = createCache<{ value: object }>({
    freshMs: 0,
    weightMax: 20_000,
    keeperOf: ({ value }) => value,
  })
  let loads = 0
  const get = () =>
    cache.get('product', async (known) => {
      if (known === undefined) loads += 1
      return { value: known ?? { value: answer }, weight: 10 }
    })
  const other = () => cache.get('other', async () => ({ value: { value: {} }, weight: 10 }))
  const render = (hosts: number, site = { hash, preview: null }) => {
    for (let n = 0; n < hosts; n++) {
      const cart = { items: [] }
      const context = { site, cart, origin: `https://shop-${n}.example` }
      cachedPage(context as unknown as PageContext, [answer], () => 'x'.repeat(1_000))
    }
  }
  await get()
  render(30)
  await other()
  await get()
  assert.equal(loads, 1, 'sixteen of them are kept')
  render(1, { hash: 'of another site', preview: null })
  assert.equal(
    watchKept(answer, () => {}),
    1_000,
    'those of the site before are dropped',
  )
})

test('a reader who is refused because too many wait keeps no other reader from the answer', async () => {
  const cache = createCache<{ by: string }>({ freshMs: 0, weightMax: 1_000, keeperOf: (it) => it })
  const tooMany = new PlatformError(429, { error: { code: 'rate_limited' } }, 1)
  const { promise: refusal, reject } = Promise.withResolvers<never>()
  const flood = cache.get('home', () => refusal)
  const others = ['ann', 'bob'].map((by) =>
    cache.get('home', async () => ({ value: { by }, weight: 1 })),
  )
  reject(tooMany)
  await assert.rejects(flood, tooMany)
  assert.deepEqual(await Promise.all(others), [{ by: 'ann' }, { by: 'ann' }])
  const gone = new PlatformError(404, { error: { code: 'unknown_tenant' } }, null)
  const all = [1, 2].map(() => cache.get('home', () => Promise.reject(gone)))
  for (const each of all) await assert.rejects(each, gone)
})

test('rendered home pages count in the weight of the products that they show', async (t) => {
  const client = openPlatformClient({ url: () => shop.url, token: STOREFRONT_TOKEN })
  t.after(() => client.close())
  const api = openStoreApi({ client, zone: 'localhost' })
  const site = await api.findSite('demo.localhost')
  assert.ok(site)
  const context = {
    site,
    api,
    origin: 'http://demo.localhost',
    url: new URL('http://demo.localhost/'),
    cart: { items: [] },
    assetBaseUrl: null,
    files: openStaticFiles().pathsFor(site),
  } as unknown as PageContext
  const { body } = await homePage(context)
  let text = ''
  for await (const part of body as AsyncIterable<string>) text += part
  const products = await api.listProducts(site, { limit: PER_PAGE })
  const kept = watchKept(products, () => {})
  assert.ok(kept > text.length, `${kept} bytes for a page of ${text.length} characters`)
})

test('the home page is sent in parts, the first before the last is rendered', async () => {
  const parts: string[] = []
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    get(shop.url, { headers: { host: 'demo.localhost' } }, (response) => {
      response.setEncoding('utf8').on('data', (part: string) => parts.push(part))
      response.on('end', () => resolve(response.headers))
    }).on('error', reject)
  })
  assert.equal(headers['transfer-encoding'], 'chunked')
  assert.ok(parts.length > 1, 'it comes in parts')
  assert.ok(!parts[0]?.includes('</html>') && parts.join('').includes('</html>'))
})
