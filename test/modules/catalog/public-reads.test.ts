import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
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

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
})

const sameTo = (answer: { status: number; headers: Record<string, string>; text: string }) => {
  const { 'x-correlation-id': _, date, ...headers } = answer.headers
  return { status: answer.status, headers, text: answer.text }
}

describe('public products', () => {
  test('show only the members of the contract and the images, with no ETag and no cache headers', async () => {
    const acme = await openLiveStore(app, 'acme')
    const club = await createProduct(acme, 'club', {
      name: 'Club',
      description: 'Each month.',
      subscription_interval: 'month',
      subscription_interval_count: 2,
      subscription_price_cents: 900,
      metadata: { secret: 'cost price' },
    })
    const variant = await createVariant(acme, club.id, {
      sku: 'C-1',
      price_cents: 1_000,
      metadata: { secret: 'supplier' },
    })
    const expected = {
      id: club.id,
      tenant_ref: 'acme',
      slug: 'club',
      name: 'Club',
      description: 'Each month.',
      status: 'active',
      image_asset_ref: null,
      image_url: null,
      is_subscription: true,
      subscription_interval: 'month',
      subscription_interval_count: 2,
      subscription_price_cents: 900,
      images: [],
      option_names: [],
      available: true,
      low_stock: false,
      variants: [
        {
          id: variant.id,
          tenant_ref: 'acme',
          product_id: club.id,
          sku: 'C-1',
          label: null,
          options: [],
          image_asset_ref: null,
          price_cents: 1_000,
          compare_at_price_cents: null,
          lowest_price_30_days_cents: null,
          currency: 'USD',
          content_amount: null,
          content_unit: null,
          gift_card: false,
          available: true,
          low_stock: false,
          available_units: null,
        },
      ],
    }
    const one = await app.anyone.get(publicUrl('acme', 'products/club'))
    assert.equal(one.status, 200)
    assert.deepEqual(one.body, { product: expected, collections: [] })
    assert.deepEqual((await app.anyone.get(publicUrl('acme'))).body, { products: [expected] })
    assert.equal(one.headers.etag, undefined)
    assert.equal(one.headers['cache-control'], undefined)
    assert.equal(one.headers['content-type'], 'application/json; charset=utf-8')
  })

  test('are the active ones, newest first, with the variants that are not archived', async () => {
    const shop = await openLiveStore(app, 'shop')
    await createProduct(shop, 'hidden', { status: 'draft' })
    const old = await createProduct(shop, 'old')
    await shop.post(`${PRODUCTS}/${old.id}/archive`)
    await createProduct(shop, 'first')
    const second = await createProduct(shop, 'second')
    const gone = await createVariant(shop, second.id, { sku: 'G', price_cents: 1 })
    await createVariant(shop, second.id, { sku: 'A', price_cents: 1, position: 5 })
    await createVariant(shop, second.id, { sku: 'B', price_cents: 1, position: 2 })
    await shop.post(`${PRODUCTS}/${second.id}/variants/${gone.id}/archive`)
    const { products } = (await app.anyone.get(publicUrl('shop'))).body
    assert.deepEqual(
      products.map((p: { slug: string }) => p.slug),
      ['second', 'first'],
    )
    assert.deepEqual(
      products[0].variants.map((v: { sku: string }) => v.sku),
      ['B', 'A'],
    )
    for (const slug of ['hidden', 'old', 'never', 'SECOND', '..%2F', 'x'.repeat(3_000)]) {
      const answer = await app.anyone.get(publicUrl('shop', `products/${slug}`))
      assert.equal(answer.status, 404, slug)
      assert.equal(answer.body.error.code, 'product_not_found')
    }
  })

  test('are found by a slug in any script and either Unicode form', async () => {
    const shop = await openLiveStore(app, 'scripts')
    for (const slug of ['ürün', '山茶花']) await createProduct(shop, slug)
    for (const slug of ['ürün', 'u\u0308ru\u0308n', '山茶花']) {
      const url = publicUrl('scripts', `products/${encodeURIComponent(slug)}`)
      assert.equal((await app.anyone.get(url)).body.product.slug, slug.normalize('NFC'))
    }
  })
})

describe('public collections', () => {
  test("are listed in the store's order, and their active products in the collection's order", async () => {
    const shop = await openLiveStore(app, 'coll')
    const a = await createProduct(shop, 'a')
    const b = await createProduct(shop, 'b')
    const c = await createProduct(shop, 'c', { status: 'draft' })
    await createCollection(shop, 'late', [b.id, c.id, a.id])
    const early = await createCollection(shop, 'early')
    await shop.patch(`${COLLECTIONS}/${early.id}`, { description: 'Empty.', position: 7 })
    await createCollection(shop, 'last')
    await shop.patch(`${COLLECTIONS}/${(await createCollection(shop, 'first')).id}`, {
      position: 0,
    })
    assert.deepEqual((await app.anyone.get(publicUrl('coll', 'collections'))).body, {
      collections: [
        { slug: 'late', title: 'The late', description: null },
        { slug: 'first', title: 'The first', description: null },
        { slug: 'early', title: 'The early', description: 'Empty.' },
        { slug: 'last', title: 'The last', description: null },
      ],
    })
    const one = await app.anyone.get(publicUrl('coll', 'collections/late'))
    assert.deepEqual(one.body.collection, { slug: 'late', title: 'The late', description: null })
    assert.deepEqual(
      one.body.products.map((p: { slug: string }) => p.slug),
      ['b', 'a'],
    )
    const product = await app.anyone.get(publicUrl('coll', 'products/b'))
    assert.deepEqual(one.body.products[0], product.body.product)
    assert.deepEqual(
      (await app.anyone.get(publicUrl('coll', 'collections/early'))).body.products,
      [],
    )
    const missing = await app.anyone.get(publicUrl('coll', 'collections/never'))
    assert.equal(missing.status, 404)
    assert.equal(missing.body.error.code, 'collection_not_found')
  })
})

describe('a store the public may not see', () => {
  test('answers as one that does not exist, to the byte, whatever it contains', async () => {
    const draft = await app.merchant('drafty')
    await createProduct(draft, 'there')
    await createCollection(draft, 'there')
    const suspended = await openLiveStore(app, 'suspended')
    await createProduct(suspended, 'there')
    await setStatus(app, 'suspended', 'suspended')
    for (const path of ['products', 'products/there', 'collections', 'collections/there']) {
      const unknown = sameTo(await app.anyone.get(publicUrl('never-made', path)))
      assert.equal(unknown.status, 404)
      assert.equal(JSON.parse(unknown.text).error.code, 'unknown_tenant')
      for (const tenant of ['drafty', 'suspended', 'NOT-A-SLUG', 'x', '', "'; drop"]) {
        assert.deepEqual(sameTo(await app.anyone.get(publicUrl(tenant, path))), unknown, tenant)
      }
    }
  })
})

describe('a database that fails', () => {
  test('gives a 503, never an empty list', async (t) => {
    const other = await openTestApp(t)
    await openLiveStore(other, 'acme')
    const superuser = await openSuperuser(t, other.database)
    await superuser.query('alter table products rename to products_away')
    await superuser.query('alter table collections rename to collections_away')
    for (const path of ['products', 'products/x', 'collections', 'collections/x']) {
      const answer = await other.anyone.get(publicUrl('acme', path))
      assert.equal(answer.status, 503)
      assert.equal(answer.body.error.code, 'service_unavailable')
    }
  })
})

describe('a public product', () => {
  test('comes with its collections in the order of the store, ten at most', async () => {
    const merchant = await openLiveStore(app, 'sorted')
    const { id } = await createProduct(merchant, 'lamp')
    await createCollection(merchant, 'empty')
    for (let at = 11; at >= 1; at--) {
      const collection = await createCollection(merchant, `c-${at}`, [id])
      await merchant.patch(`${COLLECTIONS}/${collection.id}`, { position: at })
    }
    const { body } = await app.anyone.get(publicUrl('sorted', 'products/lamp'))
    assert.deepEqual(
      body.collections.map(({ slug }: { slug: string }) => slug),
      Array.from({ length: 10 }, (_, at) => `c-${at + 1}`),
    )
    assert.deepEqual(body.collections[0], { slug: 'c-1', title: 'The c-1', description: null })
  })

  test('is shown beside products of its collections first, and never twice or beside itself', async () => {
    const merchant = await openLiveStore(app, 'beside')
    const made = new Map<string, string>()
    for (const slug of ['a', 'b', 'c', 'd', 'e', 'f', 'draft']) {
      const more = slug === 'draft' ? { status: 'draft' } : {}
      made.set(slug, (await createProduct(merchant, slug, more)).id)
    }
    const ids = (...slugs: string[]) => slugs.map((slug) => made.get(slug) ?? '')
    await createCollection(merchant, 'first', ids('e', 'draft', 'b', 'a'))
    await createCollection(merchant, 'second', ids('a', 'b', 'd'))
    const related = async (query: string) => {
      const answer = await app.anyone.get(`${publicUrl('beside')}?related_to=${query}`)
      return answer.body.products.map(({ slug }: { slug: string }) => slug)
    }
    // In the first collection a follows b, and e comes after its end; d is in the second.
    assert.deepEqual(await related('b'), ['a', 'e', 'd', 'f'])
    assert.deepEqual(await related('b&limit=20'), ['a', 'e', 'd', 'f', 'c'])
    assert.deepEqual(await related('b&limit=1'), ['a'])
    // In no collection: those that follow it in the list of all.
    assert.deepEqual(await related('c'), ['b', 'a', 'f', 'e'])
    assert.deepEqual(await related('draft'), [])
  })
})
