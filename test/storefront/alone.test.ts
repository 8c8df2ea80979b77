import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, type TestContext, test } from 'node:test'
import { createStorefront } from '../../storefront/server.ts'
import { STOREFRONT_TOKEN } from '../harness/app.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

before(async (t) => {
  shop = await openTestShop(t as TestContext)
})

/** A renderer beside the platform, as the role `storefront` is. */
async function openAlone(t: TestContext): Promise<string> {
  const storefront = createStorefront({
    platformUrl: () => shop.url,
    token: STOREFRONT_TOKEN,
    zone: 'localhost',
    secure: false,
    cdn: null,
    ipOf: () => null,
    log: shop.runtime.logger,
  })
  const server = createServer(storefront.listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await storefront.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const linksOf = (text: string) =>
  [...text.matchAll(/(?:href|src)="(\/_fd\/[^"]+)"/g)].map(([, path = '']) => path)

describe('one of several storefronts', () => {
  test('has the files of a page that another has made', async (t) => {
    for (const host of ['demo.localhost', 'nobody.localhost']) {
      const { text } = await openShopper(shop.url, host).get('/')
      const other = openShopper(await openAlone(t), host)
      const links = linksOf(text)
      assert.ok(links.length >= 2, host)
      for (const path of links) {
        const { status, headers } = await other.get(path)
        assert.deepEqual([status, path], [200, path])
        assert.match(String(headers['cache-control']), /immutable/)
      }
    }
  })

  test('dresses a page of another release in the style of its own, for this once', async (t) => {
    const other = openShopper(await openAlone(t), 'demo.localhost')
    const { status, headers, text } = await other.get('/_fd/store.AAAAAAAAAAAA.css')
    assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    assert.match(text, /--primary:#/)
    assert.equal((await other.get('/_fd/shop.AAAAAAAAAAAA.js')).status, 404)
  })
})
