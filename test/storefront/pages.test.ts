import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { contrast, parseColour } from '../../manifest/colour.ts'
import { SECTION_TYPES, type SectionType } from '../../manifest/section-types.ts'
import { createStorefront } from '../../storefront/server.ts'
import { type Caller, STOREFRONT_TOKEN } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let merchant: Caller
const lines: Record<string, unknown>[] = []

const scope = suiteScope()
before(async () => {
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  shop = await openTestShop(scope, ['demo'], { logger })
  merchant = await shop.merchant('demo')
})

const at = (host: string): Shopper => openShopper(shop.url, host)
const demo = () => at('demo.localhost')

const BLACK = [0, 0, 0] as const
const EVIL = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>`

describe('the address of a request', () => {
  test('leads to a store by its host; on the platform’s own host the same path has no route', async () => {
    const own = await shop.anyone.get('/products')
    assert.deepEqual([own.status, own.body.error.code], [404, 'route_not_found'])
    assert.equal((await demo().get('/products')).status, 200)
    assert.match((await demo().get('/v1/tenants/demo/site')).text, /^\{"tenant_ref":"demo"/)
    assert.equal((await demo().get('/healthz')).status, 200)
  })

  test('leads to the same error page for a draft, a suspended and an unknown store', async () => {
    await shop.store('draft-store')
    await shop.store('closed-store')
    const hidden = await shop.merchant('closed-store')
    await hidden.put('/v1/my/store/manifest', { manifest: { brand: { name: 'Closed' } } })
    for (const status of ['live', 'suspended']) {
      await shop.operator.put('/v1/stores/closed-store/status', { status })
    }
    const pages = await Promise.all(
      ['draft-store.localhost', 'closed-store.localhost', 'nobody.localhost', 'shop.example'].map(
        async (host) => {
          const { status, headers, text } = await at(host).get('/products/x')
          return { status, text, headers: { ...headers, date: '' } }
        },
      ),
    )
    assert.equal(pages[0]?.status, 404)
    for (const page of pages) assert.deepEqual(page, pages[0])
  })

  test('leads to that error page as soon as a store is suspended, also while its site is cached', async () => {
    const { tenant } = await publish({ brand: { name: 'Closing' } })
    const shopper = at(`${tenant}.localhost`)
    const status = `/v1/stores/${tenant}/status`
    const unknown = await at('nobody.localhost').get('/')
    await until('the store is open', async () => (await shopper.get('/')).status === 200)
    assert.equal((await shop.operator.put(status, { status: 'suspended' })).status, 200)
    for (const path of ['/collections/never-asked-for', '/search?q=candle', '/products/none']) {
      const page = await shopper.get(path)
      assert.deepEqual([page.status, page.text], [404, unknown.text], path)
      assert.equal(page.headers['cache-control'], 'no-store')
    }
  })

  test('may be the store’s own domain', async () => {
    const { tenant, owner } = await publish({ brand: { name: 'Own' } })
    const { body } = await owner.post('/v1/merchant/domains', { hostname: 'own.example' })
    const path = `/v1/stores/${tenant}/domains/${body.domain.id}/activate`
    assert.equal((await shop.operator.post(path, {})).status, 200)
    const page = await at('own.example').get('/')
    assert.match(
      page.text,
      /<title>Own<\/title>[\s\S]+<link rel="canonical" href="http:\/\/own\.example/,
    )
  })

  test('redirects from a second domain of the store to the first, and no browser caches that', async () => {
    const { tenant, owner } = await publish({ brand: { name: 'Two' } })
    for (const hostname of ['one.example', 'www.one.example']) {
      const { body } = await owner.post('/v1/merchant/domains', { hostname })
      const { id } = body.domain
      await shop.operator.post(`/v1/stores/${tenant}/domains/${id}/activate`, {})
      const made = await owner.post(`/v1/merchant/domains/${id}/primary`, {})
      assert.equal(made.status, 200, made.text)
    }
    const redirected = await at('one.example').get('/products?page=2')
    assert.equal(redirected.status, 308)
    assert.equal(redirected.headers.location, 'https://www.one.example/products?page=2')
    assert.equal(redirected.headers['cache-control'], 'no-store')
  })
})

describe('a page', () => {
  test('allows no script and no style but its own', async () => {
    const { headers, text } = await demo().get('/')
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
    assert.doesNotMatch(policy, /unsafe|nonce/)
    assert.doesNotMatch(text, /<style| style=| on[a-z]+=/)
    assert.equal(text.match(/rel="stylesheet"/g)?.length, 1)
    assert.ok(!text.includes(STOREFRONT_TOKEN))
  })

  test('has a small script, which browsers keep and which is compressed', async () => {
    const [, path = ''] =
      /<script type="module" src="([^"]+)"/.exec((await demo().get('/')).text) ?? []
    const { text, headers } = await demo().get(path)
    assert.ok(gzipSync(text).length < 60 * 1_024)
    assert.match(String(headers['cache-control']), /immutable/)
    assert.equal(
      (await demo().get(path, { 'accept-encoding': 'br' })).headers['content-encoding'],
      'br',
    )
  })

  test('escapes every text of a merchant', async () => {
    const product = { slug: 'evil', name: EVIL, description: EVIL }
    const { body } = await merchant.post('/v1/merchant/catalog/products', product)
    const variant = { sku: 'EVIL', price_cents: 100, label: EVIL }
    await merchant.post(`/v1/merchant/catalog/products/${body.product.id}/variants`, variant)
    const { text } = await demo().get('/products/evil')
    assert.ok(!text.includes('<img src=x') && !text.includes('<script>alert'))
    const [, facts = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text) ?? []
    const { '@type': type, name, offers } = JSON.parse(facts)
    assert.deepEqual(
      [type, name, offers.price, offers.priceCurrency],
      ['Product', EVIL, '1.00', 'USD'],
    )
  })

  test('has a title, a canonical address, a sharing image and a place in the sitemap', async () => {
    const { text } = await demo().get('/products/fern-teapot?utm=1')
    assert.match(text, /<title>Fern Teapot · Harbour &amp; Hearth<\/title>/)
    assert.match(
      text,
      /<link rel="canonical" href="http:\/\/demo\.localhost:\d+\/products\/fern-teapot">/,
    )
    assert.match(
      text,
      /<meta property="og:image" content="http:[^"]+\/assets\/[0-9a-f]{64}\.webp\?w=1280">/,
    )
    assert.match((await demo().get('/sitemap.xml')).text, /\/products\/fern-teapot<\/loc>/)
    assert.match((await demo().get('/robots.txt')).text, /Disallow: \/checkout[\s\S]+Sitemap: http/)
    assert.match((await demo().get('/cart')).text, /<meta name="robots" content="noindex">/)
    assert.equal((await demo().get('/products/none')).status, 404)
    assert.equal((await demo().get('/%ff')).status, 404)
  })

  test('shows images in several widths, from the store’s own host', async () => {
    const { text } = await demo().get('/products/fern-teapot')
    const [, set = ''] = /srcset="([^"]+)"/.exec(text) ?? []
    assert.match(set, /^\/stores\/demo\/assets\/[0-9a-f]{64}\.webp\?w=320 320w, /)
    const [path = ''] = set.split(' ')
    assert.equal((await demo().get(path)).headers['content-type'], 'image/webp')
  })
})

let sites = 0

/** A live store with this manifest. */
async function publish(manifest: object) {
  sites += 1
  const tenant = `site-${sites}`
  const owner = await shop.merchant(tenant)
  const saved = await owner.put('/v1/my/store/manifest', { manifest })
  assert.equal(saved.status, 200, saved.text)
  await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
  return { ...at(`${tenant}.localhost`), tenant, owner }
}

/** The types that show nothing in a store without products and images. */
const EMPTY = ['featured-product', 'featured-collection', 'collection-list', 'logo-list']

describe('a manifest', () => {
  test('has each registered type of section rendered, and an unknown type skipped and logged', async () => {
    const nothing = { type: 'featured-product', props: { slug: 'none' } }
    const empty = { brand: { name: 'Bare' }, template: { id: 'h', sections: [nothing] } }
    const bare = await (await publish(empty)).get('/')
    for (const [type, { example: props }] of Object.entries<SectionType>(SECTION_TYPES)) {
      const shopper = await publish({
        brand: { name: 'Bare' },
        template: { id: 'h', sections: [{ type, props }] },
      })
      const { status, text } = await shopper.get('/')
      assert.equal(status, 200)
      // These show products, collections or images, and this store has none.
      const isEmpty = EMPTY.includes(type)
      assert.equal(text.length > bare.text.length + 10, !isEmpty, type)
    }
    const section = { type: 'carousel', props: {} }
    const odd = await publish({
      brand: { name: 'Bare' },
      template: { id: 'h', sections: [section] },
    })
    assert.equal((await odd.get('/')).status, 200)
    assert.ok(
      lines.some(({ msg, type }) => /unknown type/.test(String(msg)) && type === 'carousel'),
    )
  })

  test('gives a page one main heading, and the product page the capped price of shipping', async () => {
    const shipping = { flat_rate_cents: 2_000, expedited_rate_cents: 3_000, max_cents: 1_000 }
    const { get, owner } = await publish({
      brand: { name: 'Capped' },
      behavior: { shipping },
      template: { id: 'h', sections: [{ type: 'hero', props: { subheading: 'No heading' } }] },
    })
    const { body } = await owner.post('/v1/merchant/catalog/products', { slug: 'a', name: 'A' })
    const path = `/v1/merchant/catalog/products/${body.product.id}/variants`
    await owner.post(path, { sku: 'A', price_cents: 100 })
    assert.equal((await get('/')).text.match(/<h1[ >]/g)?.length, 1)
    assert.match((await get('/products/a')).text, /Shipping \$10\.00\./)
    // There is no ninth page: the last one is shown.
    assert.match(
      (await get('/products?page=9')).text,
      /<h1>All products[\s\S]+href="\/products\/a"/,
    )
  })

  test('cannot inject HTML, scripts or CSS by its texts, links and colours', async () => {
    const shopper = await publish({
      brand: { name: EVIL, logoRef: EVIL },
      theme: {
        color: { primary: 'red;}body{display:none', background: '#000', text: '#000' },
        type: { heading: 'x;}*{color:red' },
        layout: { hero: EVIL, width: 'calc(1px)' },
      },
      seo: { title: EVIL },
      template: {
        id: 'h',
        sections: [
          {
            type: 'hero',
            props: { heading: EVIL, cta: { label: 'x', href: 'javascript:alert(1)' } },
          },
          { type: 'footer', props: { links: [{ label: EVIL, href: 'data:text/html,x' }] } },
          { type: 'product-grid', props: { limit: 'x', columns: {} } },
        ],
      },
    })
    const page = (await shopper.get('/')).text
    assert.ok(!page.includes('<img src=x') && !page.includes('<script>alert'))
    assert.doesNotMatch(page, /javascript:|data:text/)
    const [, sheet = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page) ?? []
    const css = (await shopper.get(sheet)).text
    assert.ok(!css.includes('display:none}') && !css.includes('x;}'))
    // The manifest asks for black on black. The page must be readable.
    const [, background, text] = /--bg:(#\w{6});--text:(#\w{6})/.exec(css) ?? []
    assert.ok(contrast(parseColour(background) ?? BLACK, parseColour(text) ?? BLACK) > 4.5)
  })

  test('a manifest that is a draft can be previewed, and nothing can be bought from it', async () => {
    const draft = {
      brand: { name: 'Tomorrow' },
      template: { id: 'h', sections: [{ type: 'hero', props: { heading: 'Soon' } }] },
    }
    const { body } = await merchant.put('/v1/my/site/draft', { manifest: draft })
    const { token } = (await merchant.post('/v1/my/site/preview-token', { version: body.version }))
      .body
    const shopper = demo()
    const page = await shopper.get(`/?preview=${token}`)
    assert.match(page.text, /class="ribbon"[\s\S]+<h1>Soon<\/h1>/)
    assert.match(page.text, /<meta name="robots" content="noindex">/)
    assert.deepEqual(
      [page.headers['cache-control'], page.headers['x-robots-tag']],
      ['no-store', 'noindex'],
    )
    assert.match((await shopper.get('/products/fern-teapot')).text, /Not available in the preview/)
    assert.equal((await shopper.post('/checkout', {})).headers.location, '/')
    assert.match((await demo().get('/')).text, /Made for slow mornings/)

    const elsewhere = await publish({ brand: { name: 'Other' } })
    assert.match((await elsewhere.get(`/?preview=${token}`)).text, /This preview has ended/)
    assert.equal((await demo().get(`/?preview=${token}x`)).status, 404)
    await shopper.get('/?preview=')
    assert.match((await shopper.get('/')).text, /Made for slow mornings/)
  })

  test('a manifest of a store that was never live can be previewed on every page', async () => {
    await shop.store('fresh-store')
    const owner = await shop.merchant('fresh-store')
    const template = { id: 'h', sections: [{ type: 'product_list', props: { heading: 'All' } }] }
    const manifest = { brand: { name: 'Fresh' }, template }
    const { version } = (await owner.put('/v1/my/site/draft', { manifest })).body
    const { token } = (await owner.post('/v1/my/site/preview-token', { version })).body
    const shopper = at('fresh-store.localhost')
    for (const path of [`/?preview=${token}`, '/products', '/search?q=tea', '/cart']) {
      const page = await shopper.get(path)
      assert.equal(page.status, 200, path)
      assert.match(page.text, /<title>[^<]*Fresh<[\s\S]+class="ribbon"/, path)
    }
    // A name in the zone belongs to its store, also while that store is closed.
    await shop.store('closed-store')
    for (const tenant of ['closed-store', 'nobody']) {
      const { status } = await at(`${tenant}.localhost`).get(`/?preview=${token}`)
      assert.equal(status, 404, tenant)
    }
  })

  test('is shown soon after it is published', async () => {
    const { owner, get } = await publish({ seo: { title: 'First' } })
    assert.match((await get('/')).text, /<title>First</)
    await owner.put('/v1/my/store/manifest', { manifest: { seo: { title: 'Second' } } })
    await until('it is shown', async () => (await get('/')).text.includes('<title>Second<'))
  })
})

describe('a platform that cannot be reached', () => {
  test('is answered with a complete error page and a retry-after header', async (t) => {
    const storefront = createStorefront({
      platformUrl: () => 'http://127.0.0.1:9',
      token: STOREFRONT_TOKEN,
      zone: 'localhost',
      secure: false,
      assetBaseUrl: null,
      ipOf: () => null,
      log: pino({ level: 'silent' }),
    })
    const server = createServer(storefront.listener)
    t.after(() => server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { status, headers, text } = await openShopper(url, 'demo.localhost').get('/')
    assert.deepEqual(
      [status, headers['retry-after'], headers['cache-control']],
      [503, '5', 'no-store'],
    )
    assert.match(text, /cannot be reached right now/)
    await storefront.close()
  })
})
