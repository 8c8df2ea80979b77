import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import pino from 'pino'
import type { Database } from '../../../src/db/database.ts'
import { plainJsonResponse } from '../../../src/http/live.ts'
import { KnownSlugs } from '../../../src/modules/catalog/known-slugs.ts'
import * as live from '../../../src/modules/catalog/live-reads.ts'
import { ProductFragments } from '../../../src/modules/catalog/product-fragments.ts'
import { LIST_BOUNDS, type ListBounds } from '../../../src/modules/catalog/public-list.ts'
import * as catalog from '../../../src/modules/catalog/service.ts'
import { publicStock } from '../../../src/modules/inventory/service.ts'
import { createLiveCache } from '../../../src/platform/live-cache.ts'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { addProducts } from '../../harness/products.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { createCollection, createProduct, openLiveStore, PRODUCTS, publicUrl } from './setup.ts'

const MANY = 12_000

let app: TestApp
let superuser: Awaited<ReturnType<typeof openSuperuser>>
/** The merchant of a store with many products, which no test changes. */
let big: Caller

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  superuser = await openSuperuser(scope, app.database)
  big = await openBigStore('big', MANY)
})

async function openBigStore(tenant: string, count: number): Promise<Caller> {
  const merchant = await openLiveStore(app, tenant)
  await addProducts(superuser, tenant, count)
  return merchant
}

interface Listed {
  products: { id: string; slug: string; variants: { id: string }[] }[]
  next: string | null
  prev: string | null
}

const slugsOf = ({ products }: Pick<Listed, 'products'>) => products.map(({ slug }) => slug)

/** The slugs from the newest of a number of products on. */
const newest = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `item-${from - n}`)

/** Follows the links of a list from one of its pages to the end. */
async function follow(url: string, way: 'next' | 'prev' = 'next') {
  const pages: Listed[] = []
  for (let to: string | null = url; to !== null; to = pages.at(-1)?.[way] ?? null) {
    pages.push((await app.anyone.get(to)).body)
  }
  return pages
}

describe('the public list of a catalog above the bound', () => {
  test('is its first page, which says that it is partial and how to go on', async () => {
    const { status, headers, body } = await app.anyone.get(publicUrl('big'))
    assert.equal(status, 200)
    assert.deepEqual(slugsOf(body), newest(MANY, LIST_BOUNDS.limitDefault))
    assert.equal(headers['x-fairdock-partial'], 'true')
    assert.equal(headers.link, `<${body.next}>; rel="next"`)
    assert.match(body.next, /^\/v1\/tenants\/big\/catalog\/products\?limit=100&after=/)
    assert.deepEqual(
      [body.total, body.total_is_estimate, body.limit, body.prev, body.prev_before],
      [LIST_BOUNDS.countMax, true, 100, null, null],
    )
    const next = await app.anyone.get(`${publicUrl('big')}?after=${body.next_after}`)
    assert.deepEqual(slugsOf(next.body), newest(MANY - 100, 100))
    assert.deepEqual(next.body, (await app.anyone.get(body.next)).body)
  })

  test('has every product on one of its pages, forwards and backwards', async () => {
    await openBigStore('walked', 1_300)
    const pages = await follow(`${publicUrl('walked')}?limit=500&after=`)
    assert.deepEqual(
      pages.map(({ products }) => products.length),
      [500, 500, 300],
    )
    assert.deepEqual(pages.flatMap(slugsOf), newest(1_300, 1_300))
    const last = pages.at(-1)
    const back = await follow(last?.prev ?? '', 'prev')
    assert.deepEqual(back.toReversed().flatMap(slugsOf), newest(1_300, 1_000))
    assert.deepEqual(
      slugsOf((await app.anyone.get(back.at(-1)?.next ?? '')).body),
      newest(800, 500),
    )
  })

  test('is whole up to the bound, with no extra member and no header', async () => {
    const merchant = await openBigStore('edge', LIST_BOUNDS.wholeMax)
    const whole = await app.anyone.get(publicUrl('edge'))
    assert.deepEqual(Object.keys(whole.body), ['products'])
    assert.deepEqual(slugsOf(whole.body), newest(LIST_BOUNDS.wholeMax, LIST_BOUNDS.wholeMax))
    assert.deepEqual(
      [whole.headers.link, whole.headers['x-fairdock-partial']],
      [undefined, undefined],
    )
    await createProduct(merchant, 'one-more')
    const paged = await app.anyone.get(publicUrl('edge'))
    assert.equal(paged.body.products.length, LIST_BOUNDS.limitDefault)
    assert.deepEqual([paged.body.total, paged.body.total_is_estimate], [5_001, false])
  })

  test('is whole and the same for a bare limit or offset, until a page is asked for', async () => {
    const merchant = await openBigStore('bare', 130)
    const { products } = (await app.anyone.get(publicUrl('bare'))).body as Listed
    await createCollection(
      merchant,
      'shelf',
      products.map(({ id }) => id),
    )
    for (const url of [publicUrl('bare'), publicUrl('bare', 'collections/shelf')]) {
      const whole = await app.anyone.get(url)
      assert.equal(whole.body.products.length, 130)
      const bare = ['limit=5', 'offset=3', 'limit=0&offset=-1', 'limit=x', 'limit=1e9&offset=7']
      for (const query of bare) {
        const answer = await app.anyone.get(`${url}?${query}`)
        assert.equal(answer.text, whole.text, query)
        const said = [answer.headers.link, answer.headers['x-fairdock-partial']]
        assert.deepEqual(said, [undefined, undefined], query)
      }
      for (const [query, count] of [
        ['after=', 100],
        ['after=&limit=5', 5],
        ['before=', 100],
      ]) {
        const page = await app.anyone.get(`${url}?${query}`)
        assert.deepEqual([page.status, page.body.products.length], [200, count], `${query}`)
        assert.deepEqual([page.body.total, page.headers['x-fairdock-partial']], [130, 'true'])
      }
    }
    const { body } = await app.anyone.get(`${publicUrl('big')}?limit=5&offset=50`)
    assert.equal(body.products.length, LIST_BOUNDS.limitDefault, 'above the bound, too')
  })

  test('reads only the page: no more database pages in a larger catalog', async () => {
    const buffers = async (tenant: string) => {
      await superuser.query('begin')
      await superuser.query(`set local role fd_app`)
      await superuser.query(`select set_config('app.tenant', $1, true)`, [tenant])
      const { rows } = await superuser.query(
        `explain (analyze, buffers, format json)
         select id, xmin from products
          where tenant_ref = '${tenant}' and status = 'active'
            and (created_at, id) < (timestamptz '2026-01-01 00:10', '${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}')
          order by created_at desc, id desc limit 101`,
      )
      await superuser.query('rollback')
      return rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'] as number
    }
    await openBigStore('small-plan', 700)
    const [small, large] = [await buffers('small-plan'), await buffers('big')]
    assert.ok(large <= 2 * small + 5, `${large} pages against ${small}`)
  })
})

describe('a collection', () => {
  test('has pages in its own order, and counts only its active products', async () => {
    const merchant = await openBigStore('shelf', 30)
    const { body } = await app.anyone.get(publicUrl('shelf'))
    const ids = (body as Listed).products.map(({ id }) => id).toReversed()
    await createCollection(merchant, 'shelf', ids)
    await merchant.post(`${PRODUCTS}/${ids[3]}/archive`)
    const url = publicUrl('shelf', 'collections/shelf')
    const pages = await follow(`${url}?limit=12&after=`)
    const expected = newest(30, 30)
      .toReversed()
      .filter((slug) => slug !== 'item-4')
    assert.deepEqual(pages.flatMap(slugsOf), expected)
    const first = (await app.anyone.get(`${url}?limit=12&after=`)).body
    assert.deepEqual([first.total, first.total_is_estimate], [29, false])
    assert.equal(first.collection.slug, 'shelf')
    const back = await follow(pages.at(-1)?.prev ?? '', 'prev')
    assert.deepEqual(back.toReversed().flatMap(slugsOf), expected.slice(0, 24))
    const whole = await app.anyone.get(url)
    assert.deepEqual(Object.keys(whole.body), ['collection', 'products'])
    assert.deepEqual(slugsOf(whole.body), expected)
  })
})

describe('the other lists of products', () => {
  test('list the products of given variants, and the products beside a product', async () => {
    const merchant = await openBigStore('beside', 10)
    const { products } = (await app.anyone.get(publicUrl('beside'))).body as Listed
    const variantOf = (slug: string) =>
      products.find((each) => each.slug === slug)?.variants[0]?.id ?? ''
    const read = async (query: string): Promise<Listed> =>
      (await app.anyone.get(`${publicUrl('beside')}?${query}`)).body
    const wanted = [variantOf('item-3'), 'x', variantOf('item-8'), variantOf('item-3')]
    assert.deepEqual(slugsOf(await read(`variants=${wanted}`)).toSorted(), ['item-3', 'item-8'])
    assert.deepEqual(slugsOf(await read('variants=none')), [])
    assert.deepEqual(slugsOf(await read('related_to=item-8')), newest(7, 4))
    // After the end of the list it goes on at its beginning.
    assert.deepEqual(slugsOf(await read('related_to=item-2&limit=3')), [
      'item-1',
      'item-10',
      'item-9',
    ])
    assert.deepEqual(slugsOf(await read('related_to=never')), [])
    const gone = products.find(({ slug }) => slug === 'item-3')
    await merchant.post(`${PRODUCTS}/${gone?.id}/archive`)
    assert.deepEqual(slugsOf(await read(`variants=${wanted}`)), ['item-8'])
    for (const query of ['variants=x', 'related_to=x', 'limit=1']) {
      const { body } = await app.anyone.get(`${publicUrl('never-made')}?${query}`)
      assert.equal(body.error.code, 'unknown_tenant', query)
    }
  })

  test('list the parts of a sitemap, oldest first', async () => {
    const read = async (query = '') =>
      (await app.anyone.get(publicUrl('big', `sitemap${query}`))).body
    const first = await read()
    assert.deepEqual([first.total, first.part, first.parts], [MANY, 1, 3])
    assert.deepEqual(first.products[0], { slug: 'item-1', updated_at: '2026-01-01T00:00:00.000Z' })
    const parts = [first, await read('?part=2'), await read('?part=3')]
    assert.deepEqual(parts.flatMap(slugsOf), newest(MANY, MANY).toReversed())
    assert.deepEqual((await read('?part=4')).products, [])
  })
})

describe('the merchant’s list of products', () => {
  test('has pages above the bound, by cursor as well as by offset', async () => {
    const { body } = await big.get(PRODUCTS)
    assert.deepEqual(slugsOf(body), newest(MANY, 100))
    assert.deepEqual([body.limit, body.offset, body.total_is_estimate], [100, 0, true])
    assert.ok(body.total > 100)
    const next = (await big.get(`${PRODUCTS}?limit=50&after=${body.next_after}`)).body
    assert.deepEqual(slugsOf(next), newest(MANY - 100, 50))
    const skipped = (await big.get(`${PRODUCTS}?limit=50&offset=100`)).body
    assert.deepEqual(skipped.products, next.products)
    const late = (await big.get(`${PRODUCTS}?limit=100&offset=11950`)).body
    assert.deepEqual(slugsOf(late), newest(50, 50))
    assert.equal(late.next_after, undefined)
    // A loop over `offset < total` reads everything.
    const before = (await big.get(`${PRODUCTS}?limit=100&offset=11800`)).body
    assert.ok(before.total > 11_900, before.total)
  })

  test('is filtered by a part of name, slug or SKU, with few or many matches', async () => {
    const find = async (q: string, more = '') =>
      (await big.get(`${PRODUCTS}?q=${encodeURIComponent(q)}&limit=3${more}`)).body
    const few = await find('ITEM-777')
    assert.deepEqual([slugsOf(few), few.total], [['item-7779', 'item-7778', 'item-7777'], 11])
    assert.deepEqual(slugsOf(await find('sku-item-777', `&after=${few.next_after}`)), [
      'item-7776',
      'item-7775',
      'item-7774',
    ])
    const many = await find('item')
    assert.deepEqual([slugsOf(many), many.total_is_estimate], [newest(MANY, 3), true])
    assert.deepEqual(slugsOf(await find('item', '&offset=11998')), ['item-2', 'item-1'])
    assert.deepEqual(slugsOf(await find('item', '&status=draft')), [])
    assert.deepEqual((await find('%')).total, 0)
  })

  test('ends at a number of bytes, and goes on from there', async () => {
    await openBigStore('long', 6)
    const db = app.runtime.database.tenant('long')
    await addDescriptions('long', 4_000)
    const bounds = { ...catalog.MERCHANT_LIST, wholeBytes: 10_000 }
    const page = await catalog.list(db, {}, null, bounds)
    assert.deepEqual(slugsOf(page), newest(6, 2))
    assert.ok(page.next_after !== undefined && page.total === 6)
    const whole = await catalog.list(db, {}, null)
    assert.deepEqual([slugsOf(whole), whole.next_after], [newest(6, 6), undefined])
  })
})

const addDescriptions = (tenant: string, length: number) =>
  superuser.query(
    `update products set description = repeat('x', $2::integer) where tenant_ref = $1`,
    [tenant, length],
  )

/** The public list with small bounds, on a cache that is off: each read asks the database. */
function openList(t: TestContext, database: Database, bounds: Partial<ListBounds>) {
  const cache = createLiveCache({ listenUrl: '', database, logger: pino({ level: 'silent' }) })
  t.after(() => cache.stop())
  const fragments = new ProductFragments(8 * 1_024 * 1_024, publicStock)
  const missing = plainJsonResponse(Buffer.from('null'))
  const deps: live.LiveDeps = {
    database,
    cache,
    fragments,
    bounds: { ...LIST_BOUNDS, ...bounds },
    assetBase: () => null,
    readStock: publicStock,
    slugs: new KnownSlugs({ database, cache }),
    answers: {
      found: (body) => plainJsonResponse(body),
      unknownTenant: missing,
      noProduct: missing,
      noCollection: missing,
    },
  }
  const read = async (tenant: string, limit: number | null = null) => {
    const request = { limit, after: null, before: null }
    return JSON.parse((await live.readProducts(deps, tenant, request)).body.toString()) as Listed
  }
  return { read, fragments }
}

describe('the bytes of a public list', () => {
  test('are bounded, for a whole list and a page, and a page has at least one product', async (t) => {
    await openBigStore('wordy', 8)
    await addDescriptions('wordy', 2_000)
    const { read } = openList(t, app.runtime.database, { wholeBytes: 12_000, pageBytes: 8_500 })
    const page = await read('wordy')
    assert.deepEqual(slugsOf(page), newest(8, 3))
    assert.match(page.next ?? '', /limit=100&after=/)
    const tiny = openList(t, app.runtime.database, { wholeBytes: 10, pageBytes: 10 })
    assert.deepEqual(slugsOf(await tiny.read('wordy')), ['item-8'])
    const ample = openList(t, app.runtime.database, { wholeBytes: 100_000 })
    assert.deepEqual(Object.keys(await ample.read('wordy')), ['products'])
  })
})

describe('a change of one product', () => {
  test('reads that product again, and none of the others', async (t) => {
    const merchant = await openBigStore('touched', 600)
    const { read, fragments } = openList(t, app.runtime.database, {})
    const { products } = await read('touched')
    assert.equal(fragments.stats().loads, 600)
    const [, , one] = products
    const path = `${PRODUCTS}/${one?.id}`
    const writes: [string, unknown, RegExp][] = [
      [path, { name: 'Renamed' }, /"Renamed"/],
      [`${path}/variants/${one?.variants[0]?.id}`, { price_cents: 777 }, /"price_cents":777/],
    ]
    for (const [at, [url, body, shows]] of writes.entries()) {
      assert.equal((await merchant.patch(url, body)).status, 200)
      assert.match(JSON.stringify(await read('touched')), shows)
      assert.equal(fragments.stats().loads, 601 + at)
    }
    await merchant.post(`${path}/archive`)
    assert.equal((await read('touched')).products.length, 599)
    await createProduct(merchant, 'brand-new')
    assert.equal(slugsOf(await read('touched'))[0], 'brand-new')
    assert.equal(fragments.stats().loads, 603)
  })

  test('keeps memory within its bound, and no store uses more than half of it', async () => {
    const fragments = new ProductFragments(300_000, publicStock)
    for (const tenant of ['big', 'one', 'two', 'three']) {
      if (tenant !== 'big') await openBigStore(tenant, 500)
      const db = app.runtime.database.tenant(tenant)
      const { products } = (await app.anyone.get(`${publicUrl(tenant)}?limit=500&after=`))
        .body as Listed
      const versions = products.map(({ id }) => ({ id, version: 'unknown' }))
      const loaded = await fragments.load(db, versions, { base: null, bytesMax: 10_000_000 })
      assert.equal(loaded.parts.length, 500)
      assert.ok(fragments.stats().bytes <= 300_000)
    }
    assert.equal(fragments.stats().stores, 2)
  })
})
