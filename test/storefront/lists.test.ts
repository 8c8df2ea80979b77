import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Script } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { getLocale } from '../../storefront/translations/locale.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { createCollection, createProduct, createVariant } from '../modules/catalog/setup.ts'
import { stock } from '../modules/checkout/setup.ts'
import { variantOf } from './setup.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'])
})

const at = (tenant: string) => openShopper(shop.url, `${tenant}.localhost`)
const get = (path: string, tenant = 'demo') => at(tenant).get(path)

const namesIn = (text: string) =>
  [...text.matchAll(/class="card-name">([^<]*)/g)].map(([, name]) => name)
const linksIn = (text: string, part: RegExp) =>
  [...text.matchAll(part)].map(([, href = '']) => href.replaceAll('&amp;', '&'))
const CHIP = /class="chip chip-(?:remove|plain)" href="([^"]*)"/g

describe('a collection', () => {
  const path = '/collections/tableware'

  test('can be sorted and filtered by price, and shows the chosen filters', async () => {
    const plain = await get(path)
    const all = namesIn(plain.text)
    assert.equal(all.length, 5)
    assert.match(plain.text, /<option value="relevance" selected>Featured/)
    assert.deepEqual(linksIn(plain.text, CHIP), [])
    const dearest = namesIn((await get(`${path}?sort=price_desc`)).text)
    assert.deepEqual(dearest.toSorted(), all.toSorted())
    assert.notDeepEqual(dearest, all)
    const [, bucket = '', count = ''] =
      /name="price" value="(\d+-\d*)"><span>[^<]*\((\d+)\)/.exec(plain.text) ?? []
    const filtered = await get(`${path}?sort=price_asc&price=${bucket}`)
    assert.equal(namesIn(filtered.text).length, Number(count))
    assert.deepEqual(linksIn(filtered.text, CHIP), [`${path}?sort=price_asc`])
    assert.match(filtered.text, new RegExp(`value="${bucket}" checked`))
    assert.match(filtered.text, /id="filter-count">1</)
    const none = await get(`${path}?price=1-2`)
    assert.match(none.text, /Nothing here matches these filters/)
    assert.deepEqual(linksIn(none.text, CHIP), [path])
  })

  test('has one address for search engines, which are told to ignore filtered ones', async () => {
    const plain = (await get(path)).text
    assert.match(plain, /<link rel="canonical" href="[^"]*\/collections\/tableware">/)
    assert.doesNotMatch(plain, /noindex/)
    for (const query of ['sort=newest', 'price=1000-2499', 'price=1000-']) {
      const { text } = await get(`${path}?${query}`)
      assert.match(text, /<meta name="robots" content="noindex">/, query)
      assert.doesNotMatch(text, /rel="canonical"/)
    }
    // A parameter that is not a filter changes nothing.
    for (const query of ['sort=sideways', 'price=cheap', 'utm_source=x']) {
      assert.match((await get(`${path}?${query}`)).text, /rel="canonical"/, query)
    }
  })

  test('redirects a form with empty fields to a short address', async () => {
    for (const [given, wanted] of [
      [`${path}?sort=relevance&price=`, path],
      [`${path}?sort=price_asc&price=`, `${path}?sort=price_asc`],
      ['/search?q=a+b&sort=relevance&collection=&price=500-999', '/search?q=a+b&price=500-999'],
      ['/collections/a%2F%2Fb?price=', '/collections/a%2F%2Fb'],
    ] as const) {
      const { status, headers } = await get(given)
      assert.deepEqual([status, headers.location], [303, wanted], given)
    }
  })

  test('shows prices in the store’s own currency, also if nothing is found', async () => {
    const { text } = await get('/collections/evening?price=1-2', 'ember')
    assert.match(text, /Filter entfernen: <\/span>0,01\s€/)
    assert.match(text, /name="price" value="\d+-\d*"><span>\d+,\d\d\s€/)
  })

  test('a collection with one product has no form, and an unknown one is not found', async () => {
    const merchant = await shop.merchant('demo')
    const { products } = (await shop.anyone.get('/v1/tenants/demo/catalog/products?limit=1')).body
    await createCollection(merchant, 'one', [products[0].id])
    const { text } = await get('/collections/one')
    assert.deepEqual([namesIn(text).length, text.includes('data-facets')], [1, false])
    assert.equal((await get('/collections/nowhere?sort=newest')).status, 404)
  })

  test('is shown in a preview without its form, since the platform searches live stores only', async () => {
    const merchant = await shop.merchant('demo')
    const { version } = (await merchant.get('/v1/my/site')).body.active
    const { token } = (await merchant.post('/v1/my/site/preview-token', { version })).body
    const { status, text } = await get(`${path}?sort=newest&preview=${token}`)
    assert.deepEqual([status, namesIn(text).length, text.includes('data-facets')], [200, 5, false])
  })
})

describe('a search', () => {
  test('shows each chosen filter as a link that removes it, and a link that removes all', async () => {
    const { text } = await get('/search?q=c&collection=living&price=2500-4999&sort=newest')
    assert.deepEqual(linksIn(text, CHIP), [
      '/search?q=c&price=2500-4999&sort=newest',
      '/search?q=c&collection=living&sort=newest',
      '/search?q=c&sort=newest',
    ])
    assert.match(text, /Remove filter: <\/span>Living</)
  })
})

describe('a search in a German store', () => {
  const search = (q: string) => get(`/search?${new URLSearchParams({ q })}`, 'ember')

  test('finds by the texts and pictures of products, mistyped or not', async () => {
    for (const [q, name] of [
      ['kerze', 'Herdfeuer'],
      ['tee', 'Waldboden'],
      ['schokolade', 'Mitternacht'],
      ['schokolde', 'Mitternacht'],
    ] as const) {
      const { text } = await search(q)
      assert.ok(namesIn(text).includes(name), `${q}: ${namesIn(text)}`)
      assert.equal(text.includes('kommt dem am nächsten'), q === 'schokolde', q)
    }
  })

  test('a search that finds nothing offers its words one by one, the collections and what is new', async () => {
    const { status, text } = await search('kerze <b>xylophon')
    assert.equal(status, 200)
    assert.match(text, /href="\/search\?q=kerze">kerze</)
    assert.match(text, /href="\/search\?q=%3Cb%3Exylophon">&lt;b&gt;xylophon</)
    assert.match(text, /class="chip" href="\/collections\/chocolate">Schokolade</)
    assert.match(text, /<h2>Neu im Laden<\/h2>/)
    assert.equal(namesIn(text).length, 3)
    assert.doesNotMatch(text, /<b>/)
    assert.doesNotMatch(text, /data-facets/, 'there is nothing to sort')
    const narrowed = await get('/search?q=kerze&price=1-2', 'ember')
    assert.match(narrowed.text, /data-facets/)
    assert.match(narrowed.text, /Zu diesen Filtern gibt es hier nichts/)
    // A search that has found something offers none of it.
    assert.doesNotMatch((await search('kerze')).text, /Neu im Laden/)
  })
})

describe('the suggestions of the search box', () => {
  const suggest = (q: string, tenant = 'demo') =>
    get(`/search/suggest?${new URLSearchParams({ q })}`, tenant)

  test('are products with a price and a picture, collections, and all results', async () => {
    const { status, text, headers } = await suggest('table')
    assert.equal(status, 200)
    const links = linksIn(text, /role="option"[^>]*href="([^"]*)"/g)
    assert.equal(links[0], '/collections/tableware')
    assert.equal(links.at(-1), '/search?q=table')
    assert.ok(
      links.slice(1, -1).every((href) => href.startsWith('/products/')),
      links.join(),
    )
    assert.match(text, /data-status="\d suggestions"/)
    assert.match(text, /<img [^>]*alt=""[^>]*>.*suggestion-price">[^<]*\$\d/s)
    assert.equal(headers['cache-control'], 'private, max-age=30')
    assert.ok(text.length < 8_000, `${text.length} bytes`)
  })

  test('are found by a typing error, and by a title without its accents', async () => {
    assert.match((await suggest('teapto')).text, /href="\/products\/fern-teapot"/)
    const merchant = await shop.merchant('demo')
    await merchant.post('/v1/merchant/catalog/collections', { slug: 'fete', title: 'Fête' })
    await until('the collection is known', async () =>
      (await suggest('fete')).text.includes('href="/collections/fete"'),
    )
  })

  test('are empty for an empty query, for one letter, for unknown words, and in a preview', async () => {
    for (const q of ['', ' ', 'c']) assert.equal((await suggest(q)).text, '<div></div>')
    assert.equal((await suggest('zzzzzz')).text, '<div data-status="No suggestions"></div>')
    const merchant = await shop.merchant('demo')
    const { version } = (await merchant.get('/v1/my/site')).body.active
    const { token } = (await merchant.post('/v1/my/site/preview-token', { version })).body
    const { text } = await get(`/search/suggest?q=candle&preview=${token}`)
    assert.equal(text, '<div></div>')
  })

  test('escape what was typed, and never show another store', async () => {
    const { text } = await suggest('"><script>alert(1)</script> candle')
    assert.doesNotMatch(text, /<script/)
    assert.doesNotMatch((await suggest('teapot', 'ember')).text, /fern-teapot/)
  })
})

describe('the cart beside a page', () => {
  const SCRIPT = { 'x-storefront-script': '1' }

  test('answers the script with lines, sum and links, and changes its quantities', async () => {
    const shopper = at('demo')
    const { id } = await variantOf(shop, 'fern-teapot')
    const added = await shopper.post('/cart/add', { variant: id }, SCRIPT)
    assert.equal(added.status, 200)
    assert.match(added.text, /Fern Teapot was added to your cart\./)
    assert.match(added.text, /<span>Subtotal<\/span><strong>\$48\.00/)
    assert.match(added.text, /Add \$12\.00 more to get free shipping/)
    assert.match(added.text, /name="checkout"[\s\S]+href="\/cart">View cart/)
    const form = { view: 'drawer', [`q:${id}`]: '2' }
    const changed = await shopper.post('/cart', form, SCRIPT)
    assert.match(changed.text, /data-count="2"[\s\S]+<strong>\$96\.00/)
    assert.doesNotMatch(changed.text, /was added|<html/)
    const emptied = await shopper.post('/cart', { view: 'drawer', remove: id }, SCRIPT)
    assert.match(emptied.text, /data-count="0"[\s\S]+Your cart is empty/)
    const paid = await shopper.post('/cart', { ...form, checkout: '1' })
    assert.equal(paid.headers.location, '/checkout')
  })

  test('says what is not in stock, lowers the quantity on request, and offers no checkout before', async () => {
    const shopper = at('demo')
    const { id } = await variantOf(shop, 'tide-bowl')
    const merchant = await shop.merchant('demo')
    await stock(merchant, id, 2)
    const added = await shopper.post('/cart/add', { variant: id, quantity: '5' }, SCRIPT)
    assert.match(added.text, /Not enough in stock[\s\S]+Please lower the quantity/)
    assert.doesNotMatch(added.text, /name="checkout"/)
    const lowered = await shopper.post('/cart', { view: 'drawer', lower: id }, SCRIPT)
    assert.match(lowered.text, /data-count="2"[\s\S]+name="checkout"/)
    await stock(merchant, id, 0)
    await until('it is sold out', async () => {
      const { text } = await shopper.post('/cart', { view: 'drawer' }, SCRIPT)
      return text.includes('Sold out. Please remove it.')
    })
  })
})

test('the script is one file of at most 12 kB, compressed', async () => {
  const { text } = await get('/')
  const [, path = ''] = /<script type="module" src="([^"]+)"/.exec(text) ?? []
  const script = (await get(path)).text
  // Not a module: its parts are put together without their imports and exports.
  assert.ok(new Script(script))
  assert.ok(gzipSync(script).length < 12_000, `${gzipSync(script).length} bytes`)
})

describe('a product in a list', () => {
  const cardOf = (text: string, name: string) =>
    text.split('<li class="card">').find((each) => each.includes(`>${name}</span>`)) ?? ''

  async function openPlain(tenant: string, manifest: object) {
    const merchant = await shop.merchant(tenant)
    const brand = { name: tenant }
    const { status } = await merchant.put('/v1/my/store/manifest', {
      manifest: { brand, ...manifest },
    })
    assert.equal(status, 200)
    await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
    const { id } = await createProduct(merchant, 'lamp', { name: '“éclat” & <lamp>' })
    const variant = await createVariant(merchant, id, { sku: 'L-1', price_cents: 1_200 })
    const reduced = { price_cents: 900, compare_at_price_cents: 1_200 }
    const { status: changed } = await merchant.patch(
      `/v1/merchant/catalog/products/${id}/variants/${variant.id}`,
      reduced,
    )
    assert.equal(changed, 200)
    await createCollection(merchant, 'light', [id])
  }

  test('shows its sale, its price before, and its first letter where it has no picture', async () => {
    await openPlain('plain', {})
    for (const path of ['/products', '/collections/light', '/search?q=lamp']) {
      const { text } = await get(path, 'plain')
      const card = cardOf(text, '“éclat” &amp; &lt;lamp&gt;')
      assert.match(card, /<svg class="no-image"[^>]* aria-hidden="true">.*>É<\/text>/, path)
      assert.match(card, /class="badge">Sale</)
      assert.match(
        card,
        /<s class="price-before">.*\$12\.00<\/s> <span class="card-now">\$9\.00<\/span>/,
      )
      assert.doesNotMatch(card, /card-tax/)
    }
  })

  test('says that the tax is in its price, if the product page says so', async () => {
    const tax = { provider: 'flat_rate', rate_bps: 1_900 }
    for (const [language, word] of Object.entries({
      en: 'incl. VAT',
      de: 'inkl. MwSt.',
      es: 'IVA incluido',
      fr: 'TVA incluse',
    })) {
      const tenant = `taxed-${language}`
      await openPlain(tenant, {
        store: { language },
        tax: { prices_include_tax: true },
        behavior: { tax },
      })
      const [, said] = /card-tax">([^<]*)</.exec((await get('/products', tenant)).text) ?? []
      assert.equal(said, word)
    }
  })
})

describe('a store’s language', () => {
  test('is written from left to right if the storefront has no translation for it', async () => {
    for (const [language, wanted] of Object.entries({
      ar: 'ltr',
      'he-IL': 'ltr',
      fa: 'ltr',
      'az-Arab': 'ltr',
      az: 'ltr',
      'en-GB': 'ltr',
      'sr-Latn': 'ltr',
    })) {
      assert.equal(getLocale(language, 'UTC').direction, wanted, language)
    }
    assert.match((await get('/')).text, /<html lang="en[^"]*" dir="ltr"/)
  })

  test('has styles without left and right, and motion only for shoppers who have not asked for less', async () => {
    const [, path = ''] = /rel="stylesheet" href="([^"]+)"/.exec((await get('/')).text) ?? []
    const css = (await get(path)).text
    const sided =
      /(?:margin|padding|border)-(?:left|right)|^\s*(?:left|right|float):|text-align: (?:left|right)/gm
    assert.deepEqual(css.match(sided)?.filter((each) => !each.includes('float')) ?? [], [])
    const calm = css.replace(/@media \(prefers-reduced-motion: no-preference\) \{.*?\n\}/gs, '')
    assert.doesNotMatch(calm, /transition|animation:|scroll-behavior: smooth/)
  })
})
