import assert from 'node:assert/strict'
import { get } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import { openPlatform, type Read } from '../../storefront/platform.ts'
import { openShop } from '../../storefront/shop.ts'
import { STOREFRONT_TOKEN } from '../harness/app.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

before(async (t) => {
  shop = await openTestShop(t as TestContext, ['demo'])
})

/** Longer than a site is taken for fresh. */
const STALE_MS = 1_100

test('a site is asked for by its tag, and stays what was made of it until another is published', async (t) => {
  const platform = openPlatform({ url: () => shop.url, token: STOREFRONT_TOKEN })
  t.after(() => platform.close())
  const reads: Read[] = []
  const watched = {
    ...platform,
    read: async (...asked: Parameters<typeof platform.read>) => {
      const read = await platform.read(...asked)
      reads.push(read)
      return read
    },
  }
  const { findSite } = openShop({ platform: watched, zone: 'localhost' })
  // A busy machine may take longer than a site is fresh, so that its time is the test's own.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const first = await findSite('demo.localhost')
  assert.equal(await findSite('demo.localhost'), first)
  assert.equal(reads.length, 1, 'a fresh one is not asked for')
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

test('a page is on its way before all of it is made', async () => {
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
