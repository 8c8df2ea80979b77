import assert from 'node:assert/strict'
import { get } from 'node:http'
import { before, test } from 'node:test'
import { openPlatformClient, type PublicAnswer } from '../../storefront/api/platform-client.ts'
import { openStoreApi } from '../../storefront/api/store-api.ts'
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
