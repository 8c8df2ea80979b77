import assert from 'node:assert/strict'
import { get } from 'node:http'
import { before, test } from 'node:test'
import { createCache } from '../../storefront/api/cache.ts'
import { openPlatformClient, type PublicAnswer } from '../../storefront/api/platform-client.ts'
import { openStoreApi } from '../../storefront/api/store-api.ts'
import type { Resolved } from '../../storefront/api/types.ts'
import { richText } from '../../storefront/catalog/manifest-sections.ts'
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

test('a draft is read and rendered once while its preview lives, and is asked for each time', async (t) => {
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

test('what was rendered of a site counts in the weight of the cache, and drops the oldest sites', async () => {
  const site = readSite({ tenantRef: 'demo', manifest: {} } as Resolved, 'hash')
  const cache = createCache<{ site: Site }>({ freshMs: 0, weightMax: 1_000 })
  const load = async (known: { site: Site } | undefined) => {
    const value = known ?? { site }
    return { value, weight: 100 + value.site.kept.characters }
  }
  const kept = await cache.get('heavy', load)
  const context = { site: kept.site } as PageContext
  const props = { heading: null, body: 'word '.repeat(300) }
  const shown = richText(context, props)
  assert.equal(richText(context, props), shown, 'it is rendered once')
  assert.equal(kept.site.kept.characters, shown.text.length)
  await cache.get('heavy', load)
  let loads = 0
  const count = async (known: { site: Site } | undefined) => {
    if (known === undefined) loads += 1
    return { value: known ?? { site }, weight: 10 }
  }
  await cache.get('small', count)
  await cache.get('heavy', count)
  assert.equal(loads, 2, 'the heavy site had to make room')
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
