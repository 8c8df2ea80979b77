import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { refreshSearchIndex } from '../../../src/modules/catalog/search.ts'
import { type Answer, type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  COLLECTIONS,
  createCollection,
  createProduct,
  createVariant,
  openLiveStore,
  PRODUCTS,
  publicUrl,
  setStatus,
} from './setup.ts'

let app: TestApp
let acme: Caller
const ids = new Map<string, string>()

/** The products of a small store, each with one variant but for the last. */
const STOCK = [
  { slug: 'mug', name: 'Red coffee mug', sku: 'MUG-001/RED', price_cents: 900 },
  { slug: 'grinder', name: 'Grinder', sku: 'GR-2', price_cents: 12_000 },
  { slug: 'shoes', name: 'Running shoes', sku: 'RUN42', price_cents: 8_000 },
  { slug: 'creme', name: 'Crème brûlée torch', sku: 'CB-9', price_cents: 2_400 },
  { slug: 'jacket', name: 'Winter jacket', sku: 'JK-7', price_cents: 2_499 },
  { slug: 'voucher', name: 'Coffee voucher', sku: null, price_cents: 0 },
]
const DESCRIPTIONS: Record<string, string> = {
  grinder: 'Grinds coffee beans by hand.',
  shoes: 'Light trainers for the road.',
}

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  acme = await openLiveStore(app, 'acme')
  for (const { slug, name, sku, price_cents } of STOCK) {
    const description = DESCRIPTIONS[slug] ?? null
    const { id } = await createProduct(acme, slug, { name, description })
    ids.set(slug, id)
    if (sku !== null) await createVariant(acme, id, { sku, price_cents })
  }
  await createCollection(acme, 'kitchen', idsOf('mug', 'grinder', 'creme'))
  await createCollection(acme, 'gifts', idsOf('mug', 'voucher'))
})

const idsOf = (...slugs: string[]) => slugs.map((slug) => ids.get(slug) ?? '')

const ask = (parameters: Record<string, string>, tenant = 'acme', who = app.anyone) =>
  who.get(`${publicUrl(tenant, 'search')}?${new URLSearchParams(parameters)}`)

const slugsIn = ({ status, text, body }: Answer): string[] => {
  assert.equal(status, 200, text)
  return body.results.map((each: { slug: string }) => each.slug)
}

const find = async (q: string, more: Record<string, string> = {}, tenant = 'acme') =>
  slugsIn(await ask({ q, ...more }, tenant))

const findSorted = async (q: string, more: Record<string, string> = {}) =>
  (await find(q, more)).toSorted()

describe('search finds', () => {
  test('products as the catalog shows them, with the query and the number of matches', async () => {
    const { status, body } = await ask({ q: ' trainers ' })
    const shown = (await app.anyone.get(publicUrl('acme', 'products/shoes'))).body.product
    assert.equal(status, 200)
    assert.deepEqual(body, {
      query: 'trainers',
      results: [shown],
      filters: { priceMinCents: null, priceMaxCents: null, collectionSlug: null },
      facets: {
        price_buckets: [{ min_cents: 5_000, max_cents: 9_999, count: 1 }],
        collections: [],
      },
      result_count: 1,
      corrected: false,
      limit: 20,
      offset: 0,
    })
  })

  test('names before descriptions', async () => {
    assert.deepEqual((await find('coffee')).at(-1), 'grinder')
    assert.deepEqual(await findSorted('coffee'), ['grinder', 'mug', 'voucher'])
  })

  test('products with every word of the query, in any place', async () => {
    assert.deepEqual(await find('beans grinder'), ['grinder'])
    assert.deepEqual(await find('coffee parachute'), [])
  })

  test('other forms of a word, and the beginning of the last word', async () => {
    assert.deepEqual(await find('run'), ['shoes'])
    assert.deepEqual(await find('runni'), ['shoes'])
    assert.deepEqual(await find('grinding'), ['grinder'])
    assert.deepEqual(await find('winter jac'), ['jacket'])
  })

  test('words with or without their accents', async () => {
    for (const q of ['creme brulee', 'CRÈME BRÛLÉE', 'Cre\u0300me', 'ｃｒｅｍｅ']) {
      assert.deepEqual(await find(q), ['creme'], q)
    }
  })

  test('a SKU, whole or in part, whatever separator it has', async () => {
    for (const q of ['MUG-001/RED', 'mug001red', 'mug 001', 'MUG-001', '001']) {
      assert.deepEqual(await find(q), ['mug'], q)
    }
    assert.deepEqual(await find('run-42'), ['shoes'])
  })

  test('words similar to an unknown one, and words that contain it', async () => {
    assert.deepEqual(await find('jackett'), ['jacket'])
    assert.deepEqual(await find('cofee mug'), ['mug'])
    assert.deepEqual(await find('vouchr'), ['voucher'])
    assert.deepEqual(await find('rinde'), ['grinder'])
    assert.deepEqual(await find('zzzzzz'), [])
  })

  test('nothing for a blank query, without an error', async () => {
    for (const q of ['', '   ', '\u0007', '!!!', '"', '\u0301']) {
      const { status, body } = await ask({ q })
      assert.equal(status, 200)
      assert.deepEqual([body.results, body.result_count], [[], 0], JSON.stringify(q))
      assert.deepEqual(body.facets, { price_buckets: [], collections: [] })
    }
    assert.equal((await app.anyone.get(publicUrl('acme', 'search'))).body.query, '')
  })
})

describe('search narrows', () => {
  test('search narrows by price, both ends included, under either parameter name', async () => {
    const cheap = { price_min_cents: '900', price_max_cents: '900' }
    assert.deepEqual(await find('coffee', cheap), ['mug'])
    const { body } = await ask({ q: 'coffee', priceMinCents: '901', priceMaxCents: '12000' })
    assert.deepEqual(body.filters, {
      priceMinCents: 901,
      priceMaxCents: 12_000,
      collectionSlug: null,
    })
    assert.equal(body.result_count, 1)
  })

  test('search narrows by collection, under either parameter name; an unknown one is empty', async () => {
    assert.deepEqual(await findSorted('coffee', { collection: 'gifts' }), ['mug', 'voucher'])
    assert.deepEqual(await findSorted('coffee', { collectionSlug: 'kitchen' }), ['grinder', 'mug'])
    assert.deepEqual(await find('coffee', { collection: 'none' }), [])
  })

  test('search counts each facet without its own filter, but with the other', async () => {
    const { body } = await ask({ q: 'coffee', collection: 'gifts', price_min_cents: '5000' })
    assert.equal(body.result_count, 0)
    assert.deepEqual(body.facets, {
      price_buckets: [{ min_cents: 500, max_cents: 999, count: 1 }],
      collections: [{ slug: 'kitchen', title: 'The kitchen', count: 1 }],
    })
  })

  test('search narrows to exactly the products that a bucket counted, when the ends of the bucket are sent back', async () => {
    const { body } = await ask({ q: 'c' })
    assert.ok(body.facets.price_buckets.length > 2)
    for (const { min_cents, max_cents, count } of body.facets.price_buckets) {
      const ends = { price_min_cents: String(min_cents), price_max_cents: String(max_cents) }
      assert.equal((await ask({ q: 'c', ...ends })).body.result_count, count)
    }
  })

  test('search narrows by valid parameters alone: an invalid number is ignored, a large one is clamped', async () => {
    const { body } = await ask({
      q: 'coffee',
      price_min_cents: 'abc',
      price_max_cents: '1e99',
      sort: 'sideways',
      limit: '999',
      offset: '99999999',
    })
    assert.deepEqual(body.filters.priceMinCents, null)
    assert.deepEqual(body.filters.priceMaxCents, 100_000_000_000)
    assert.deepEqual([body.limit, body.offset, body.result_count], [50, 10_000, 2])
    assert.equal((await ask({ q: 'coffee', price_min_cents: '-5' })).body.filters.priceMinCents, 0)
    const twice = `${publicUrl('acme', 'search')}?q=jacket&q=mug&price_min_cents=1&price_min_cents=9`
    const first = (await app.anyone.get(twice)).body
    assert.deepEqual([first.query, first.filters.priceMinCents], ['jacket', 1])
  })
})

describe('search without words, within a collection', () => {
  test('finds the whole collection in its own order, with the number of products and the facets', async () => {
    const { body } = await ask({ collection: 'kitchen' })
    assert.deepEqual(
      body.results.map((each: { slug: string }) => each.slug),
      ['mug', 'grinder', 'creme'],
    )
    assert.deepEqual([body.query, body.result_count], ['', 3])
    assert.deepEqual(body.filters.collectionSlug, 'kitchen')
    assert.deepEqual(body.facets, {
      price_buckets: [
        { min_cents: 500, max_cents: 999, count: 1 },
        { min_cents: 1_000, max_cents: 2_499, count: 1 },
        { min_cents: 10_000, max_cents: 24_999, count: 1 },
      ],
      collections: [
        { slug: 'kitchen', title: 'The kitchen', count: 3 },
        { slug: 'gifts', title: 'The gifts', count: 1 },
      ],
    })
    assert.deepEqual(await find('  ', { collectionSlug: 'gifts' }), ['mug', 'voucher'])
  })

  test('sorts and narrows the collection, and pages through it', async () => {
    const kitchen = { collection: 'kitchen' }
    assert.deepEqual(await find('', { ...kitchen, sort: 'price_desc' }), [
      'grinder',
      'creme',
      'mug',
    ])
    assert.deepEqual(await find('', { ...kitchen, sort: 'newest' }), ['creme', 'grinder', 'mug'])
    assert.deepEqual(await find('', { ...kitchen, price_max_cents: '2400' }), ['mug', 'creme'])
    assert.deepEqual(await find('', { ...kitchen, limit: '1', offset: '1' }), ['grinder'])
  })

  test('finds nothing in an unknown collection, in another store’s, or for signs that are no words', async () => {
    await openLiveStore(app, 'browsed')
    for (const [collection, tenant] of [
      ['none', 'acme'],
      ['kitchen', 'browsed'],
    ] as const) {
      const { status, body } = await ask({ collection }, tenant)
      assert.deepEqual([status, body.results, body.result_count], [200, [], 0])
    }
    assert.deepEqual(await find('!!!', { collection: 'kitchen' }), [])
    const hidden = await ask({ collection: 'kitchen' }, 'nobody')
    assert.deepEqual([hidden.status, hidden.body.error.code], [404, 'unknown_tenant'])
  })

  test('leaves out products that are not for sale', async () => {
    const { id } = await createProduct(acme, 'going', { name: 'Going' })
    await createCollection(acme, 'leaving', [id])
    assert.deepEqual(await find('', { collection: 'leaving' }), ['going'])
    await acme.post(`${PRODUCTS}/${id}/archive`)
    assert.deepEqual(await find('', { collection: 'leaving' }), [])
  })
})

describe('search sorts', () => {
  test('search sorts by price, with products without a price last, and by age', async () => {
    assert.deepEqual(await find('coffee', { sort: 'price_asc' }), ['mug', 'grinder', 'voucher'])
    assert.deepEqual(await find('coffee', { sort: 'price_desc' }), ['grinder', 'mug', 'voucher'])
    assert.deepEqual(await find('coffee', { sort: 'newest' }), ['voucher', 'grinder', 'mug'])
  })

  test('search sorts products of equal rank into pages that neither overlap nor leave one out', async () => {
    const twins = await openLiveStore(app, 'twins')
    const made = Array.from({ length: 23 }, (_, n) =>
      createProduct(twins, `twin-${n}`, { name: 'Twin' }),
    )
    await Promise.all(made)
    const admin = await app.database.openAdmin()
    await admin.query(`update product_search set created_at = now() where tenant_ref = 'twins'`)
    for (const sort of ['relevance', 'price_asc', 'price_desc', 'newest']) {
      const pages: string[] = []
      for (const offset of ['0', '10', '20']) {
        pages.push(...(await find('twin', { sort, limit: '10', offset }, 'twins')))
      }
      assert.equal(new Set(pages).size, 23, sort)
    }
  })
})

describe('search keeps up', () => {
  let store: Caller
  const one = (q: string) => find(q, {}, 'fresh')
  let id: string
  let variant: string

  before(async () => {
    store = await openLiveStore(app, 'fresh')
    id = (await createProduct(store, 'thing', { name: 'Lantern', description: 'Glows.' })).id
    variant = (await createVariant(store, id, { sku: 'LA-1', price_cents: 500 })).id
  })

  test('search keeps up with the text of a product', async () => {
    await store.patch(`${PRODUCTS}/${id}`, { name: 'Torch', description: 'Shines.' })
    assert.deepEqual(await one('lantern'), [])
    assert.deepEqual(await one('glows'), [])
    assert.deepEqual([await one('torch'), await one('shine')], [['thing'], ['thing']])
  })

  test('search keeps up with its variants: their SKUs and the lowest price', async () => {
    await store.patch(`${PRODUCTS}/${id}/variants/${variant}`, { sku: 'TO-77', price_cents: 700 })
    assert.deepEqual([await one('LA-1'), await one('TO-77')], [[], ['thing']])
    const priced = async () =>
      (await ask({ q: 'torch' }, 'fresh')).body.facets.price_buckets[0]?.min_cents
    assert.equal(await priced(), 500)
    const cheaper = await createVariant(store, id, { sku: 'XQ-1', price_cents: 60 })
    assert.equal(await priced(), 0)
    await store.post(`${PRODUCTS}/${id}/variants/${cheaper.id}/archive`)
    assert.deepEqual([await priced(), await one('XQ-1')], [500, []])
  })

  test('search keeps up with its collections, and with their deletion', async () => {
    const { id: collection } = await createCollection(store, 'lights', [id])
    const collections = async () =>
      (await ask({ q: 'torch' }, 'fresh')).body.facets.collections.map(
        (each: { slug: string }) => each.slug,
      )
    assert.deepEqual(await collections(), ['lights'])
    await store.put(`${COLLECTIONS}/${collection}/products`, { product_ids: [] })
    assert.deepEqual(await collections(), [])
    await store.put(`${COLLECTIONS}/${collection}/products`, { product_ids: [id] })
    const gone = await store.send('DELETE', `${COLLECTIONS}/${collection}`)
    assert.ok(gone.status < 300, gone.text)
    assert.deepEqual(await collections(), [])
  })

  test("search keeps up with the store's language", async () => {
    // Only in the description, where another form is found by the stem alone.
    await createProduct(store, 'model', { name: 'Model', description: 'Kleine Häuser' })
    assert.deepEqual(await one('Häusern'), [])
    await store.patch('/v1/my/store', { language: 'de-AT' })
    const handlers = {
      'store.language_changed.v1': (_: unknown, db: Parameters<typeof refreshSearchIndex>[0]) =>
        refreshSearchIndex(db, new AbortController().signal),
    }
    const { workerDatabase } = app.runtime
    await deliverDue(workerDatabase, handlers, { slots: 20 })
    assert.deepEqual(await one('Häusern'), ['model'])
  })

  test('search keeps up with two changes of one product at the same time', async () => {
    const changes = Array.from({ length: 10 }, (_, n) => [
      store.patch(`${PRODUCTS}/${id}`, { name: `Torch ${n}` }),
      createVariant(store, id, { sku: `RACE-${n}`, price_cents: 300 - n }),
    ])
    await Promise.all(changes.flat())
    const { body } = await ask({ q: 'race 7', sort: 'price_asc' }, 'fresh')
    assert.equal(body.result_count, 1)
    const admin = await app.database.openAdmin()
    const { rows } = await admin.query(
      `select s.price_cents::int as kept, s.names like '%race 9%' as listed,
              (select min(price_cents)::int from variants v
                where v.product_id = s.product_id and archived_at is null) as lowest
         from product_search s where s.tenant_ref = 'fresh' and s.product_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [{ kept: 291, listed: true, lowest: 291 }])
  })

  test('search leaves out products that are no longer, or not yet, for sale', async () => {
    await createProduct(store, 'secret', { name: 'Secret gadget', status: 'draft' })
    assert.deepEqual([await one('gadget'), await one('gadgt')], [[], []])
    await store.post(`${PRODUCTS}/${id}/archive`)
    assert.deepEqual([await one('torch'), await one('trch')], [[], []])
  })
})

describe('search is closed', () => {
  const refused = async (tenant: string) => {
    const { status, text, headers } = await ask({ q: 'coffee' }, tenant)
    const { 'x-correlation-id': _, date, ...rest } = headers
    return { status, text, rest }
  }

  test('search is closed for stores that are not live, with the same answer as for unknown ones, and to rows of other stores', async () => {
    await createProduct(await app.merchant('drafty'), 'mug', { name: 'Coffee mug' })
    await createProduct(await openLiveStore(app, 'halted'), 'mug', { name: 'Coffee mug' })
    await setStatus(app, 'halted', 'suspended')
    const unknown = await refused('nobody')
    assert.equal(unknown.status, 404)
    for (const tenant of ['drafty', 'halted', 'No_Slug', '%07', 'a'.repeat(80)]) {
      assert.deepEqual(await refused(tenant), unknown, tenant)
    }
    assert.equal((await ask({ q: '' }, 'drafty')).status, 404)
    await openLiveStore(app, 'empty')
    assert.deepEqual(await find('coffee', {}, 'empty'), [])
    assert.deepEqual(await find('cofee', {}, 'empty'), [])
  })

  test('search is closed to query operators and injections in the text', async () => {
    const hostile = [
      "coffee' | 'mug",
      'coffee & !mug',
      'coffee <-> mug',
      'coffee:*A',
      "'; drop table products; --",
      '\\',
      "\\'",
      '((((',
      '%',
      '_____',
      '*',
      ':*',
      'coffee\u0001mug',
      '\ud800',
      'a\u0301'.repeat(1_000),
      `a${'\u0301'.repeat(1_000)}`,
      'ﷺ'.repeat(800),
      'coffee '.repeat(1_000),
      `${'a'.repeat(7_500)}`,
      '🎁'.repeat(500),
      '1/coffee',
    ]
    for (const q of hostile) {
      const { status, body } = await ask({ q })
      assert.equal(status, 200, JSON.stringify(q.slice(0, 50)))
      assert.ok(body.query.length <= 200)
    }
    assert.deepEqual(await find("red' & 'mug"), ['mug'])
    const raw = [
      'q=%',
      'q=%zz',
      'q=%ff%fe',
      'q=%ed%a0%80',
      'q=%c0%af',
      'q[]=x',
      '=&&=',
      'q=%2500',
      'q=%01',
    ]
    for (const query of raw) {
      const { status } = await app.anyone.get(`${publicUrl('acme', 'search')}?${query}`)
      assert.equal(status, 200, query)
    }
    for (const collection of ["' or 1=1", '\u0001', 'x'.repeat(7_000)]) {
      assert.equal((await ask({ q: 'coffee', collection })).status, 200)
    }
  })
})

test('a page of long products ends at two megabytes, and the next one begins there', async () => {
  const store = await openLiveStore(app, 'wordy')
  const description = '€'.repeat(20_000)
  for (let i = 0; i < 45; i += 1) {
    await createProduct(store, `long-${i}`, { name: `Endless scroll ${i}`, description })
  }
  const found: string[] = []
  for (let offset = 0; offset < 45; ) {
    const answer = await ask({ q: 'endless', limit: '50', offset: String(offset) }, 'wordy')
    assert.ok(Buffer.byteLength(answer.text) < 2_200_000)
    assert.equal(answer.body.result_count, 45)
    found.push(...slugsIn(answer))
    assert.ok(answer.body.limit > 0)
    offset += answer.body.limit
  }
  assert.equal(new Set(found).size, 45)
  assert.equal(found.length, 45)
})
