import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { until } from '../harness/eventually.ts'
import { addSamples } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'

let shop: TestShop
let samples: Awaited<ReturnType<typeof addSamples>>

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  samples = await addSamples(await shop.merchant('demo'))
})

const shopper = () => openShopper(shop.url, 'demo.localhost')
const read = async (path: string) => (await shopper().get(path)).text
const variantId = (slug: string, sku: string) => samples.added[slug]?.ids[sku] ?? ''

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one]) => one)
const slides = (text: string) => all(text, /<li id="(image-\d+)"/g)

describe('the images of a product', () => {
  test('are a row with a link to each image, of which the first is loaded at once', async () => {
    const text = await read('/products/five')
    assert.deepEqual(
      slides(text),
      [1, 2, 3, 4, 5].map((at) => `image-${at}`),
    )
    assert.deepEqual(all(text, /<a href="#(image-\d+)"/g), slides(text))
    assert.deepEqual(
      all(text, /aria-label="(Image \d of 5)"/g),
      [1, 2, 3, 4, 5].map((at) => `Image ${at} of 5`),
    )
    assert.equal(all(text, /(fetchpriority="high")/g).length, 1)
    const [gallery = ''] = /<ul class="slides".*?<\/ul>/s.exec(text) ?? []
    assert.equal(all(gallery, /(loading="lazy")/g).length, 4)
    assert.match(gallery, /^.*?fetchpriority="high".*?loading="lazy"/s)
    assert.match(gallery, /href="\/stores\/demo\/assets\/[0-9a-f]{64}\.jpg\?w=1920"/)
  })

  test('have no row of links if there is only one image, and a drawing if there is none', async () => {
    const one = await read('/products/one')
    assert.equal(slides(one).length, 1)
    assert.doesNotMatch(one, /class="thumbs"/)
    const none = await read('/products/bare')
    assert.match(none, /<div class="shots"><svg class="no-image"/)
    assert.match(
      await read('/products'),
      /products\/bare"><span class="card-image"><svg class="no-image"/,
    )
  })

  test('begin with the image of the variant that the address names', async () => {
    const blue = await read(`/products/shirt?variant=${variantId('shirt', 'SHIRT-M-BLUE')}`)
    assert.deepEqual(slides(blue), ['image-2', 'image-1'])
    assert.deepEqual(slides(await read('/products/shirt')), ['image-1', 'image-2'])
    assert.match(blue, /<s class="price-before">.*?\$89\.00<\/s> <span data-price>\$69\.00/)
  })
})

describe('the products that a shopper may also like', () => {
  /** The products of the section, in its order. */
  const related = (text: string) =>
    all(
      /<h2 class="section-title">You may also like<\/h2>(.*?)<\/section>/s.exec(text)?.[1] ?? '',
      /<a href="\/products\/([^"]+)"/g,
    )

  test('are products of its collection first, with image and price, and never the product itself', async () => {
    const text = await read('/products/garden-tea')
    const { body } = await shop.anyone.get('/v1/tenants/demo/catalog/collections/pantry')
    const shelf = (body.products as { slug: string }[]).map(({ slug }) => slug)
    assert.deepEqual(
      related(text).slice(0, 3).toSorted(),
      shelf.filter((slug) => slug !== 'garden-tea').toSorted(),
    )
    assert.match(text, /You may also like.*<img .*<span class="card-price">.*\$\d/s)
    assert.ok(!related(text).includes('garden-tea'))
  })
})

describe('the options of a product', () => {
  const groups = (text: string) => all(text, /role="group" aria-label="([^"]+)"/g)

  test('are links that name the variant, and mark values that are not available', async () => {
    const text = await read(`/products/shirt?variant=${variantId('shirt', 'SHIRT-M-BLUE')}`)
    assert.deepEqual(groups(text), ['Size', 'Colour'])
    const link = (sku: string) =>
      `href="?variant=${variantId('shirt', sku)}" rel="nofollow" data-choice`
    assert.ok(text.includes(`${link('SHIRT-M-BLUE')} aria-current="true">`))
    assert.ok(
      text.includes(
        `${link('SHIRT-S-BLUE')} data-state="sold-out"><span class="choice-text">S</span> <span class="choice-note">Sold out`,
      ),
    )
    assert.ok(
      text.includes(
        `${link('SHIRT-L-SAND')} data-state="other"><span class="choice-text">L</span> <span class="choice-note">Not with Blue`,
      ),
    )
    assert.match(text, /<link rel="canonical" href="[^"]*\/products\/shirt">/)
  })

  test('put the chosen variant into the cart without the script', async () => {
    const buyer = shopper()
    const id = variantId('shirt', 'SHIRT-L-SAND')
    const page = await buyer.get(`/products/shirt?variant=${id}`)
    assert.equal(page.field('variant'), id)
    assert.match(page.text, /data-price>\$74\.00/)
    const cart = await buyer.follow('/cart/add', { variant: page.field('variant'), quantity: '1' })
    assert.match(cart.text, /L \/ Sand/)
  })

  test('show a variant that is sold out, and explain it', async () => {
    const text = await read(`/products/shirt?variant=${variantId('shirt', 'SHIRT-S-BLUE')}`)
    assert.match(text, /This choice is sold out\. Another one may be available\./)
    assert.match(text, /<button class="button button-wide" disabled>Sold out/)
  })

  test('are labels with prices if the variants have no options, and the first is chosen', async () => {
    const text = await read('/products/labels')
    assert.deepEqual(groups(text), ['Choose an option'])
    assert.match(
      text,
      /aria-current="true"><span class="choice-text">250 g<\/span> <span class="choice-note">\$9\.90/,
    )
  })

  test('an address with an unknown variant shows the options of the product, as an address without one does', async () => {
    const plain = await read('/products/shirt')
    for (const wrong of [
      '',
      'x',
      '%00',
      variantId('labels', 'COFFEE-S'),
      `${variantId('shirt', 'SHIRT-M-BLUE')}x`,
    ]) {
      assert.equal(await read(`/products/shirt?variant=${wrong}`), plain, wrong)
    }
    assert.equal(await read('/products/shirt?variant=a&variant=b'), plain)
  })
})

describe('the way to a product', () => {
  const trail = (text: string) => {
    const [, list = ''] = /<nav class="breadcrumb".*?<ol>(.*?)<\/ol>/s.exec(text) ?? []
    return list
      .replaceAll(/<li><a href="([^"]*)">|<[^>]*>/g, ' $1 ')
      .trim()
      .split(/ {2,}/)
  }
  const data = (text: string) =>
    all(text, /<script type="application\/ld\+json">(.*?)<\/script>/g).map((each) =>
      JSON.parse(each ?? ''),
    )

  test('leads through its first collection, for people and for search engines', async () => {
    const text = await read('/products/fern-teapot')
    assert.deepEqual(trail(text), ['/ Home', '/collections/tableware Tableware', 'Fern Teapot'])
    const list = data(text).find((each) => each['@type'] === 'BreadcrumbList')
    assert.deepEqual(
      list.itemListElement.map(({ position, name, item }: Record<string, string>) => [
        position,
        name,
        new URL(item ?? '').pathname,
      ]),
      [
        [1, 'Home', '/'],
        [2, 'Tableware', '/collections/tableware'],
        [3, 'Fern Teapot', '/products/fern-teapot'],
      ],
    )
  })

  test('leads through all products if the product has no collection', async () => {
    assert.deepEqual(trail(await read('/products/one')), ['/ Home', '/products All', 'Moon vase'])
  })

  test('is named by each offer, with its variant', async () => {
    const product = data(await read('/products/shirt')).find((each) => each['@type'] === 'Product')
    const urls = product.offers.offers.map(({ url }: { url: string }) => new URL(url).search)
    assert.deepEqual(
      urls,
      Object.values(samples.added.shirt?.ids ?? {}).map((id) => `?variant=${id}`),
    )
  })
})

describe('products seen before', () => {
  const seen = (slugs: string) => shopper().get(`/recently-seen?${new URLSearchParams({ slugs })}`)
  const names = (text: string) => all(text, /class="card-name">([^<]*)/g)

  test('are answered as cards in the requested order, eight at most and each once', async () => {
    const { status, text, headers } = await seen('one,five,one,shirt')
    assert.deepEqual(
      [status, names(text)],
      [200, ['Moon vase', 'Tall harbour vase', 'Linen shirt']],
    )
    assert.equal(headers['set-cookie'], undefined)
    assert.equal(headers['x-robots-tag'], 'noindex')
    assert.equal(names((await seen(`${'none,'.repeat(8)}one`)).text).length, 0)
    assert.match((await shopper().get('/robots.txt')).text, /Disallow: \/recently-seen/)
  })

  test('products seen before that are gone, unknown or no product at all are left out', async () => {
    const merchant = await shop.merchant('demo')
    const made = await merchant.post('/v1/merchant/catalog/products', {
      slug: 'brief',
      name: 'Brief',
    })
    assert.deepEqual(names((await seen('brief,one')).text), ['Brief', 'Moon vase'])
    await merchant.post(`/v1/merchant/catalog/products/${made.body.product.id}/archive`)
    const isGone = async () => names((await seen('brief,one')).text).length === 1
    await until('the archived product is left out', isGone)
    for (const wrong of ['', ',,,', '../cart', '%00', '<b>', 'x'.repeat(2_000), '🦊']) {
      const { status, text } = await seen(wrong)
      assert.deepEqual([status, text], [200, ''], wrong)
    }
    assert.equal((await shopper().get('/recently-seen')).text, '')
  })
})

describe('the price of a measure', () => {
  const SHOWN = /class="unit-price"><span class="hidden">Unit price: <\/span>\$23\.93 \/ l</

  test('is shown on the page, the card and in the cart, and in the data of the offer', async () => {
    const text = await read('/products/oil')
    assert.match(text, SHOWN)
    assert.match(await read('/products'), SHOWN)
    const buyer = shopper()
    const added = { variant: variantId('oil', 'OIL'), quantity: '2' }
    assert.match((await buyer.follow('/cart/add', added)).text, SHOWN)
    const [, data = ''] = /(\{"@type":"UnitPriceSpecification".*?\}\}\})/.exec(text) ?? []
    assert.deepEqual(JSON.parse(data), {
      '@type': 'UnitPriceSpecification',
      price: '17.95',
      priceCurrency: 'USD',
      referenceQuantity: {
        '@type': 'QuantitativeValue',
        value: 750,
        unitCode: 'MLT',
        valueReference: { '@type': 'QuantitativeValue', value: 1, unitCode: 'LTR' },
      },
    })
  })

  test('is not shown for a variant without a content', async () => {
    assert.doesNotMatch(await read('/products/one'), /unit-price|UnitPriceSpecification/)
  })
})
