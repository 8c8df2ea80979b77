import assert from 'node:assert/strict'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, type TestContext, test } from 'node:test'
import sharp from 'sharp'
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

describe('a picture that comes through a storefront', () => {
  const upload = async (content_type: string, bytes: Buffer): Promise<string> => {
    const merchant = await shop.merchant('demo')
    const data_base64 = bytes.toString('base64')
    const { body } = await merchant.post('/v1/merchant/media', { content_type, data_base64 })
    return new URL(body.asset.url).pathname
  }

  test('keeps no page waiting, however slowly it is looked at', async (t) => {
    const url = await openAlone(t)
    // Larger than all that lies between the platform and somebody who does not read.
    const raw = { width: 1_800, height: 1_800, channels: 3 as const }
    const plain = sharp(Buffer.alloc(raw.width * raw.height * 3), { raw })
    const path = await upload('image/png', await plain.png({ compressionLevel: 0 }).toBuffer())
    const { promise: allBegun, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const looking = Array.from({ length: 40 }, () =>
      get(`${url}${path}`, () => {
        begun += 1
        if (begun === 32) resolve()
      }).on('error', () => {}),
    )
    t.after(() => looking.map((each) => each.destroy()))
    await allBegun
    assert.equal((await openShopper(url, 'demo.localhost').get('/products')).status, 200)
  })

  test('has the policy that the platform has for drawings, and is not sent to who asks about it', async (t) => {
    const url = await openAlone(t)
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
    const path = await upload('image/svg+xml', Buffer.from(drawing))
    const seen = await openShopper(url, 'demo.localhost').get(path)
    assert.match(String(seen.headers['content-security-policy']), /^default-src 'none'; sandbox$/)
    const asked = await fetch(`${url}${path}`, { method: 'HEAD' })
    assert.deepEqual([asked.status, await asked.text()], [200, ''])
    assert.equal(asked.headers.get('content-length'), String(seen.text.length))
  })
})
