import assert from 'node:assert/strict'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, type TestContext, test } from 'node:test'
import sharp from 'sharp'
import { createStorefront } from '../../storefront/server.ts'
import { STOREFRONT_TOKEN } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

/** A second storefront before the same platform, as a process with the role `storefront` is. */
async function openSecond(t: TestContext): Promise<string> {
  const storefront = createStorefront({
    platformUrl: () => shop.url,
    token: STOREFRONT_TOKEN,
    zone: 'localhost',
    secure: false,
    assetBaseUrl: null,
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

const staticLinks = (text: string) =>
  [...text.matchAll(/(?:href|src)="(\/_fd\/[^"]+)"/g)].map(([, path = '']) => path)

describe('one of several storefronts', () => {
  test('has the static files of a page that another storefront has rendered', async (t) => {
    for (const host of ['demo.localhost', 'nobody.localhost']) {
      const { text } = await openShopper(shop.url, host).get('/')
      const other = openShopper(await openSecond(t), host)
      const links = staticLinks(text)
      assert.ok(links.length >= 2, host)
      for (const path of links) {
        const { status, headers } = await other.get(path)
        assert.deepEqual([status, path], [200, path])
        assert.match(String(headers['cache-control']), /immutable/)
      }
    }
  })

  test('answers the style sheet of another release with its own, and lets no browser cache it', async (t) => {
    const other = openShopper(await openSecond(t), 'demo.localhost')
    const { status, headers, text } = await other.get('/_fd/store.AAAAAAAAAAAA.css')
    assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    assert.match(text, /--primary:#/)
    assert.equal((await other.get('/_fd/shop.AAAAAAAAAAAA.js')).status, 404)
  })
})

describe('an image that a storefront passes on', () => {
  const upload = async (content_type: string, bytes: Buffer): Promise<string> => {
    const merchant = await shop.merchant('demo')
    const data_base64 = bytes.toString('base64')
    const { body } = await merchant.post('/v1/merchant/media', { content_type, data_base64 })
    return new URL(body.asset.url).pathname
  }

  test('does not delay pages, however slowly browsers read it', async (t) => {
    const url = await openSecond(t)
    // Larger than all buffers between the platform and a browser that does not read.
    const raw = { width: 1_800, height: 1_800, channels: 3 as const }
    const plain = sharp(Buffer.alloc(raw.width * raw.height * 3), { raw })
    const path = await upload('image/png', await plain.png({ compressionLevel: 0 }).toBuffer())
    const { promise: allBegun, resolve } = Promise.withResolvers<void>()
    let begun = 0
    const requests = Array.from({ length: 40 }, () =>
      get(`${url}${path}`, () => {
        begun += 1
        if (begun === 32) resolve()
      }).on('error', () => {}),
    )
    t.after(() => requests.map((each) => each.destroy()))
    await allBegun
    assert.equal((await openShopper(url, 'demo.localhost').get('/products')).status, 200)
  })

  test('has the platform’s policy for SVG images, and no body for a HEAD request', async (t) => {
    const url = await openSecond(t)
    const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
    const path = await upload('image/svg+xml', Buffer.from(drawing))
    const seen = await openShopper(url, 'demo.localhost').get(path)
    assert.match(String(seen.headers['content-security-policy']), /^default-src 'none'; sandbox$/)
    const head = await fetch(`${url}${path}`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    assert.equal(head.headers.get('content-length'), String(seen.text.length))
  })
})
