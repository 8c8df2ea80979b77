import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addProducts } from '../harness/products.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'

const MANY = 12_000
const PER_PAGE = 24

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo'])
  const superuser = await openSuperuser(scope, shop.database)
  await addStore('large', MANY)
  await addStore('medium', 60)

  async function addStore(tenant: string, count: number) {
    const merchant = await shop.merchant(tenant)
    const sections = [{ type: 'product-grid', props: { heading: 'New', limit: 4 } }]
    const manifest = { brand: { name: tenant }, template: { id: 'home', sections } }
    await merchant.put('/v1/my/store/manifest', { manifest })
    await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
    await addProducts(superuser, tenant, count)
  }
})

const at = (tenant: string) => openShopper(shop.url, `${tenant}.localhost`)

/** The products that a page links to, each once. */
const productsOn = (text: string) => [
  ...new Set([...text.matchAll(/href="\/products\/(item-\d+)"/g)].map(([, slug]) => slug)),
]

/** The address of a link with this relation in the main part, as a browser follows it. */
const linkOf = (text: string, rel: 'next' | 'prev') =>
  new RegExp(`<a class="more" rel="${rel}" href="([^"]+)"`)
    .exec(text)?.[1]
    ?.replaceAll('&amp;', '&')

const newest = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `item-${from - n}`)

/** Follows the links of a list from its first page on. */
async function walk(tenant: string, path: string, pagesMax: number) {
  const pages: string[] = []
  for (let to: string | undefined = path; to !== undefined && pages.length < pagesMax; ) {
    const { status, text } = await at(tenant).get(to)
    assert.equal(status, 200, to)
    pages.push(text)
    to = linkOf(text, 'next')
  }
  return pages
}

describe('a catalog with more products than a list has', () => {
  test('has a home page, a product page and a cart', async () => {
    const home = (await at('large').get('/')).text
    assert.deepEqual(productsOn(home), newest(MANY, 4))
    assert.match(home, /<a class="more" href="\/products">See all products<\/a>/)
    const product = (await at('large').get('/products/item-5000')).text
    assert.deepEqual(productsOn(product), newest(4_999, 4))
    const [, variant = ''] = /name="variant" value="([^"]+)"/.exec(product) ?? []
    const shopper = at('large')
    const added = await shopper.post('/cart/add', { variant, quantity: '2' })
    assert.equal(added.headers.location, '/cart')
    assert.match((await shopper.get('/cart')).text, /Item 5000[\s\S]+\$2\.00/)
  })

  test('is listed by pages that lead to each other, forwards and backwards', async () => {
    const [first = '', second = '', third = ''] = await walk('large', '/products', 3)
    assert.match(first, /More than 10,000 products/)
    assert.match(second, /<span>Page 2<\/span>/)
    assert.deepEqual([first, second, third].flatMap(productsOn), newest(MANY, 3 * PER_PAGE))
    assert.match(third, /<link rel="canonical" href="[^"]+\/products\?page=3&amp;after=/)
    assert.match(third, /<link rel="next" href="http:[^"]+page=4&amp;after=/)
    const back = (await at('large').get(linkOf(third, 'prev') ?? '')).text
    assert.deepEqual(productsOn(back), productsOn(second))
    assert.equal(linkOf(back, 'prev'), '/products')
  })

  test('has a sitemap of parts, each of a bounded size, with every product once', async () => {
    const index = (await at('large').get('/sitemap.xml')).text
    const parts = [...index.matchAll(/<loc>http:\/\/[^/]+(\/sitemap-\d\.xml)<\/loc>/g)]
    assert.deepEqual(
      parts.map(([, path]) => path),
      ['/sitemap-1.xml', '/sitemap-2.xml', '/sitemap-3.xml'],
    )
    const texts = []
    for (const [, path = ''] of parts) texts.push((await at('large').get(path)).text)
    const found = texts.flatMap((text) => text.match(/\/products\/item-\d+<\/loc><lastmod>/g))
    assert.equal(new Set(found).size, MANY)
    assert.equal((await at('large').get('/sitemap-4.xml')).status, 404)
    assert.match(
      (await at('medium').get('/sitemap.xml')).text,
      /<urlset[\s\S]+\/collections<\/loc>/,
    )
  })
})

describe('a list of a few pages', () => {
  test('says how many there are, and ends', async () => {
    const pages = await walk('medium', '/products', 9)
    assert.deepEqual(
      pages.map((text) => /<span>(Page \d of \d)<\/span>/.exec(text)?.[1]),
      ['Page 1 of 3', 'Page 2 of 3', 'Page 3 of 3'],
    )
    assert.deepEqual(pages.flatMap(productsOn), newest(60, 60))
    for (const text of pages) assert.match(text, /<p class="count"[^>]*>60 products<\/p>/)
    assert.match((await at('medium').get('/')).text, /See all 60/)
  })

  test('can list a collection in its own order, too', async () => {
    const merchant = await shop.merchant('medium')
    const { body } = await merchant.get('/v1/merchant/catalog/products')
    const ids = (body.products as { id: string }[]).map(({ id }) => id).toReversed()
    const made = await merchant.post('/v1/merchant/catalog/collections', { slug: 'c', title: 'C' })
    const path = `/v1/merchant/catalog/collections/${made.body.collection.id}/products`
    assert.equal((await merchant.put(path, { product_ids: ids })).status, 200)
    const pages = await walk('medium', '/collections/c', 9)
    assert.deepEqual(pages.flatMap(productsOn), newest(60, 60).toReversed())
    assert.match(pages[1] ?? '', /Page 2 of 3[\s\S]+<a class="more" rel="next"/)
  })

  test('shows its first page for a number or a cursor that it never gave out', async () => {
    const first = productsOn((await at('medium').get('/products')).text)
    for (const query of ['page=3', 'after=x', 'before=%00', 'after=', 'page=2&after=W10']) {
      const { status, text } = await at('medium').get(`/products?${query}`)
      assert.deepEqual([status, productsOn(text)], [200, first], query)
    }
  })
})
