import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { request } from 'undici'
import { addSample, addSamples, uploadDrawing } from '../harness/sample-products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { parseXml, type XmlElement } from '../harness/xml.ts'
import { google, openai, parseLines, parseTsv } from '../modules/feeds/setup.ts'

/** What search engines, shopping services and language models read of a store. */

let shop: TestShop

const MANIFEST = {
  brand: { name: 'Harbour & <Hearth>', email: 'hello@shop.example' },
  seo: { description: 'Pots [and](x) pans\nfor `slow` mornings' },
  pages: [
    { slug: 'about', title: 'About *us*', description: 'Who we are' },
    { slug: 'privacy', title: 'Privacy' },
  ],
  behavior: {
    shipping: {
      flat_rate_cents: 500,
      expedited_rate_cents: 900,
      max_cents: 900,
      free_shipping_threshold_cents: 10_000,
      countries: ['US', 'CA'],
    },
    returns: { windowDays: 30 },
  },
}

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  const merchant = await shop.merchant('demo')
  await addSamples(merchant)
  const saved = await merchant.put('/v1/my/store/manifest', { manifest: MANIFEST })
  assert.equal(saved.status, 200, saved.text)
})

interface Read {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
  text: string
}

/** Reads an address of a store's host: its path alone, since names under localhost may not resolve. */
async function read(
  path: string,
  { host = 'demo.localhost', method = 'GET', headers = {} }: ReadOptions = {},
): Promise<Read> {
  const { port } = new URL(shop.url)
  const answer = await request(shop.url + path, {
    method,
    headers: { host: `${host}:${port}`, ...headers },
  })
  const bytes = Buffer.from(await answer.body.arrayBuffer())
  return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() }
}

interface ReadOptions {
  host?: string
  method?: 'GET' | 'HEAD' | 'POST'
  headers?: Record<string, string>
}

/** Fails for an address that is not of this store's own host, or does not answer. */
async function assertAnswers(urls: Iterable<string>) {
  for (const url of new Set(urls)) {
    const { host, pathname, search } = new URL(url)
    assert.equal(host, `demo.localhost:${new URL(shop.url).port}`, url)
    assert.equal((await read(pathname + search)).status, 200, url)
  }
}

describe('the feeds of a store', () => {
  test("are the same at the store's own host as on the platform", async () => {
    const [table, lines] = [await read('/feeds/google.tsv'), await read('/feeds/openai.jsonl.gz')]
    const direct = await shop.anyone.get(google('demo'))
    assert.deepEqual([table.status, table.text], [200, direct.text])
    assert.deepEqual(lines.bytes, (await shop.anyone.get(openai('demo'))).bytes)
    for (const name of ['content-type', 'etag', 'cache-control'] as const) {
      assert.equal(table.headers[name], direct.headers[name], name)
    }
    assert.equal(lines.headers['content-type'], 'application/gzip')
    assert.ok(parseTsv(table.text).length > 10)
  })

  test('are answered with 304 to a reader that has them', async () => {
    for (const path of ['/feeds/google.tsv', '/feeds/openai.jsonl.gz']) {
      const { headers } = await read(path)
      const again = await read(path, { headers: { 'if-none-match': String(headers.etag) } })
      assert.deepEqual([again.status, again.bytes.length], [304, 0])
      const head = await read(path, { method: 'HEAD' })
      assert.deepEqual([head.status, head.bytes.length, head.headers.etag], [200, 0, headers.etag])
    }
  })

  test('name addresses that answer: pages of the store, and images', async () => {
    const rows = parseTsv((await read('/feeds/google.tsv')).text)
    await assertAnswers(rows.map(({ link = '' }) => link))
    const items = parseLines((await read('/feeds/openai.jsonl.gz')).bytes)
    const pages = items.map((item) => String(item.seller_url))
    await assertAnswers([...pages, ...items.map((item) => String(item.seller_privacy_policy))])
    const images = rows.flatMap((row) =>
      [row.image_link ?? '', ...(row.additional_image_link ?? '').split(',')].filter(Boolean),
    )
    for (const url of new Set(images)) {
      const answer = await fetch(url)
      assert.equal(answer.status, 200, url)
      assert.match(answer.headers.get('content-type') ?? '', /^image\//)
    }
  })

  test('list the variant that a shopper sees behind the link, at its price', async () => {
    const rows = parseTsv((await read('/feeds/google.tsv')).text)
    for (const { link = '', price, sale_price } of rows.filter((row) => row.item_group_id)) {
      const { pathname, search } = new URL(link)
      const [amount = ''] = (sale_price || price || '').split(' ')
      const { text } = await read(pathname + search)
      assert.ok(text.includes(`data-price>$${amount}`), `${link} at ${amount}`)
    }
  })

  test("are served at the store's host alone, and under no other name, method or preview", async () => {
    const other = await shop.merchant('neighbour')
    await other.put('/v1/my/store/manifest', { manifest: { brand: { name: 'Neighbour' } } })
    await shop.operator.put('/v1/stores/neighbour/status', { status: 'live' })
    const theirs = await read('/feeds/google.tsv', { host: 'neighbour.localhost' })
    assert.deepEqual(parseTsv(theirs.text), [])
    assert.doesNotMatch(theirs.text, /demo/)
    for (const path of ['/feeds', '/feeds/', '/feeds/google.csv', '/feeds/../feeds/google.tsvx']) {
      assert.equal((await read(path)).status, 404, path)
    }
    assert.ok((await read('/feeds/google.tsv', { method: 'POST' })).status >= 400)
    assert.equal((await read('/feeds/google.tsv', { host: 'nobody.localhost' })).status, 404)
    const { version } = (await other.put('/v1/my/site/draft', { manifest: MANIFEST })).body
    const { token } = (await other.post('/v1/my/site/preview-token', { version })).body
    const preview = openShopper(shop.url, 'neighbour.localhost')
    await preview.get(`/?preview=${token}`)
    assert.equal((await preview.get('/feeds/google.tsv')).status, 404)
    await shop.operator.put('/v1/stores/neighbour/status', { status: 'suspended', reason: 'x' })
    const closed = () => read('/feeds/google.tsv', { host: 'neighbour.localhost' })
    // The storefront knows a site for a second.
    assert.equal((await closed()).status, 404)
  })
})

/**
 * The properties that each type must have, and those that are recommended and known here. Google
 * Search Central, "Merchant listing", "Product snippet", "Breadcrumb" and "Organization"; schema.org
 * for the types. As read on 17 November 2026.
 */
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  Product: ['name', 'image', 'offers', 'description', 'sku', 'brand', 'url'],
  Offer: ['price', 'priceCurrency', 'availability', 'itemCondition', 'url', 'seller'],
  AggregateOffer: [
    'lowPrice',
    'highPrice',
    'priceCurrency',
    'offerCount',
    'availability',
    'offers',
  ],
  Brand: ['name'],
  BreadcrumbList: ['itemListElement'],
  ListItem: ['position', 'name', 'item'],
  OnlineStore: ['name', 'url', 'description', 'email', 'hasMerchantReturnPolicy'],
  Organization: ['name'],
  OfferShippingDetails: ['shippingRate', 'shippingDestination'],
  MonetaryAmount: ['value', 'currency'],
  DefinedRegion: ['addressCountry'],
  MerchantReturnPolicy: ['applicableCountry', 'returnPolicyCategory', 'merchantReturnDays'],
  UnitPriceSpecification: ['price', 'priceCurrency', 'referenceQuantity'],
  QuantitativeValue: ['value'],
}

type Thing = Record<string, unknown> & { '@type': string }

/** The structured data of a page: its objects, which a browser's parser finds. */
function dataOf(text: string): Thing[] {
  const scripts = text.matchAll(/<script type="application\/ld\+json">(.*?)<\/script>/gs)
  return [...scripts].map(([, json = '']) => JSON.parse(json))
}

/** Checks an object and all below it, and lists the types that were found. */
function checkThing(value: unknown, found: string[]): void {
  if (Array.isArray(value)) for (const each of value) checkThing(each, found)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  const { '@type': type } = value as Thing
  const required = PROPERTIES[type]
  assert.ok(required !== undefined, `${type} is not in the table`)
  for (const name of required) {
    assert.notEqual((value as Thing)[name] ?? '', '', `${type} has no ${name}`)
  }
  found.push(type)
  for (const each of Object.values(value)) checkThing(each, found)
}

const typesOf = (text: string) => {
  const found: string[] = []
  for (const each of dataOf(text)) {
    assert.equal(each['@context'], 'https://schema.org')
    checkThing(each, found)
  }
  return found
}

/** The offer of a product page, or the one above all its offers. */
function offersOf(text: string): Thing & { offers: Thing[] } {
  const product = dataOf(text).find((each) => each['@type'] === 'Product')
  assert.ok(product !== undefined)
  return product.offers as Thing & { offers: Thing[] }
}

describe('the structured data of a store', () => {
  test('has all that is required of a product with one variant', async () => {
    const { text } = await read('/products/one')
    const types = typesOf(text)
    for (const type of ['Product', 'Brand', 'Offer', 'OfferShippingDetails', 'BreadcrumbList']) {
      assert.ok(types.includes(type), type)
    }
    assert.ok(!types.includes('AggregateOffer'))
    assert.equal(offersOf(text).price, '48.00')
    assert.doesNotMatch(text, /aggregateRating|reviewCount|"review"/)
  })

  test('has the range of prices and each offer of a product with several', async () => {
    const { text } = await read('/products/shirt')
    const offers = offersOf(text)
    assert.deepEqual(
      [offers['@type'], offers.lowPrice, offers.highPrice, offers.offerCount],
      ['AggregateOffer', '69.00', '74.00', 5],
    )
    assert.deepEqual(
      offers.offers.map((each) => String(each.availability).split('/').at(-1)),
      ['InStock', 'InStock', 'InStock', 'OutOfStock', 'InStock'],
    )
    assert.ok(typesOf(text).includes('AggregateOffer'))
    await assertAnswers(offers.offers.map((each) => String(each.url)))
  })

  test('names the store as an organization, with its rule for returns', async () => {
    const { text } = await read('/')
    const types = typesOf(text)
    assert.ok(types.includes('OnlineStore') && types.includes('MerchantReturnPolicy'))
    const [store] = dataOf(text)
    assert.deepEqual([store?.name, store?.email], ['Harbour & <Hearth>', 'hello@shop.example'])
  })

  test('has a trail of links that all answer', async () => {
    const trail = dataOf((await read('/products/one')).text).find(
      (each) => each['@type'] === 'BreadcrumbList',
    )
    const items = trail?.itemListElement as { position: number; item: string }[]
    assert.deepEqual(
      items.map(({ position }) => position),
      [1, 2, 3],
    )
    await assertAnswers(items.map(({ item }) => item))
  })

  test('stays one valid script whatever a product is called', async () => {
    const name = '</script><script>alert(1)</script> " \u202E <!-- & \' `'
    const merchant = await shop.merchant('demo')
    const added = await addSample(merchant, {
      slug: 'nasty',
      name,
      description: `${name}\n\t\u2028${name}`,
      images: [await uploadDrawing(merchant, [200, 200], 300)],
      variants: [{ sku: 'NASTY', price_cents: 100, label: name }],
    })
    const { text } = await read('/products/nasty')
    const product = dataOf(text).find((each) => each['@type'] === 'Product')
    assert.deepEqual([product?.productID, product?.name], [added.id, name])
    assert.doesNotMatch(text, /<script>alert/)
    typesOf(text)
    const rows = parseTsv((await read('/feeds/google.tsv')).text)
    assert.ok(rows.some(({ id }) => id === added.ids.NASTY))
  })
})

describe('the sitemap', () => {
  const locations = ({ children }: XmlElement) =>
    children.map(({ children: [first] }) => first?.text ?? '')

  test('is well-formed, has every page of the store once, and all pages answer', async () => {
    const { headers, text } = await read('/sitemap.xml')
    assert.match(String(headers['content-type']), /^application\/xml/)
    const root = parseXml(text)
    assert.equal(root.name, 'urlset')
    assert.equal(root.attributes.xmlns, 'http://www.sitemaps.org/schemas/sitemap/0.9')
    for (const { name, children } of root.children) {
      assert.equal(name, 'url')
      assert.deepEqual(
        children.map((each) => each.name),
        children.length === 1 ? ['loc'] : ['loc', 'lastmod'],
      )
      const [, changed] = children
      if (changed !== undefined) assert.ok(!Number.isNaN(Date.parse(changed.text)), changed.text)
    }
    const urls = locations(root)
    assert.equal(new Set(urls).size, urls.length)
    const paths = urls.map((url) => new URL(url).pathname)
    for (const path of ['/', '/products', '/pages/about', '/products/shirt']) {
      assert.ok(paths.includes(path), path)
    }
    await assertAnswers(urls)
  })
})

describe('robots.txt', () => {
  test('has rules that crawlers read, and leads to the sitemap', async () => {
    const { headers, text } = await read('/robots.txt')
    assert.match(String(headers['content-type']), /^text\/plain/)
    const lines = text.split('\n').filter((line) => line !== '')
    assert.equal(lines[0], 'User-agent: *')
    for (const line of lines) assert.match(line, /^(User-agent|Disallow|Sitemap): \S+$/)
    const hidden = lines.filter((line) => line.startsWith('Disallow'))
    for (const path of ['/cart', '/checkout', '/orders']) {
      assert.ok(hidden.includes(`Disallow: ${path}`))
    }
    assert.ok(!hidden.some((line) => '/feeds/google.tsv'.startsWith(line.slice(10))))
    const [, sitemap = ''] = /^Sitemap: (\S+)$/m.exec(text) ?? []
    await assertAnswers([sitemap])
  })
})

describe('llms.txt', () => {
  test('has the form that llmstxt.org proposes, and links that answer', async () => {
    const { headers, text } = await read('/llms.txt')
    assert.match(String(headers['content-type']), /^text\/plain; charset=utf-8/)
    const [title, summary, ...blocks] = text.trimEnd().split('\n\n')
    assert.equal(title, '# Harbour & \\<Hearth\\>')
    assert.equal(summary, '> Pots \\[and\\]\\(x\\) pans for \\`slow\\` mornings')
    const headings = blocks.filter((_, at) => at % 2 === 0)
    for (const heading of headings) assert.match(heading, /^## \S/)
    const links = blocks.filter((_, at) => at % 2 === 1).flatMap((list) => list.split('\n'))
    for (const line of links) assert.match(line, /^- \[[^\n]+\]\(https?:\/\/[^\s()]+\)(: \S.*)?$/)
    assert.ok(
      links.some((line) => line.startsWith('- [About \\*us\\*](') && line.endsWith(': Who we are')),
    )
    assert.ok(links.some((line) => line.includes('/feeds/openai.jsonl.gz')))
    await assertAnswers(links.map((line) => /\]\((\S+?)\)/.exec(line)?.[1] ?? ''))
  })
})
