import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { createCollection } from '../modules/catalog/setup.ts'

let shop: TestShop

before(async (t) => {
  shop = await openTestShop(t as TestContext, ['demo', 'ember'])
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

  test('can be sorted and filtered by price, and shows what is chosen', async () => {
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

  test('has one address for search engines, which are told to leave filtered ones alone', async () => {
    const plain = (await get(path)).text
    assert.match(plain, /<link rel="canonical" href="[^"]*\/collections\/tableware">/)
    assert.doesNotMatch(plain, /noindex/)
    for (const query of ['sort=newest', 'price=1000-2499', 'price=1000-']) {
      const { text } = await get(`${path}?${query}`)
      assert.match(text, /<meta name="robots" content="noindex">/, query)
      assert.doesNotMatch(text, /rel="canonical"/)
    }
    // What is no filter changes nothing.
    for (const query of ['sort=sideways', 'price=cheap', 'utm_source=x']) {
      assert.match((await get(`${path}?${query}`)).text, /rel="canonical"/, query)
    }
  })

  test('leads from the empty fields of a form to a short address', async () => {
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

  test('names prices in the store’s own currency, also where nothing is found', async () => {
    const { text } = await get('/collections/evening?price=1-2', 'ember')
    assert.match(text, /Filter entfernen: <\/span>0,01\s€/)
    assert.match(text, /name="price" value="\d+-\d*"><span>\d+,\d\d\s€/)
  })

  test('with one product has no form, and an unknown one is not found', async () => {
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
  test('shows each chosen filter as a link that removes it, and one that removes all', async () => {
    const { text } = await get('/search?q=c&collection=living&price=2500-4999&sort=newest')
    assert.deepEqual(linksIn(text, CHIP), [
      '/search?q=c&price=2500-4999&sort=newest',
      '/search?q=c&collection=living&sort=newest',
      '/search?q=c&sort=newest',
    ])
    assert.match(text, /Remove filter: <\/span>Living</)
  })
})
