import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  auditOf,
  COLLECTIONS,
  createProduct,
  createVariant,
  openLiveStore,
  PRODUCTS,
  publicUrl,
  setStatus,
} from '../catalog/setup.ts'

const SEED = '/v1/merchant/catalog/demo-seed'

let app: TestApp

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
})

describe('the demo seed', () => {
  test('adds products, images and collections to a draft store once', async () => {
    const acme = await app.merchant('acme')
    const first = await acme.post(SEED)
    assert.equal(first.status, 201)
    assert.deepEqual(first.body, { products_created: 13, collections_created: 3 })
    const again = await acme.post(SEED)
    assert.equal(again.status, 200)
    assert.deepEqual(again.body, { products_created: 0, collections_created: 0 })
    assert.equal((await auditOf(app, 'acme', 'catalog.demo_seeded')).length, 1)

    await acme.put('/v1/my/store/manifest', { manifest: {} })
    await setStatus(app, 'acme', 'live')
    const { products } = (await app.anyone.get(publicUrl('acme'))).body
    assert.equal(products.length, 13)
    assert.equal(products[0].slug, 'harbour-mug')
    for (const product of products) {
      assert.ok(product.description.length > 60, product.slug)
      assert.ok(product.variants.length >= 1)
      assert.ok(product.images.length >= 3, product.slug)
      assert.ok(product.images.every(({ alt }: { alt: string | null }) => alt))
      const picture = await fetch(product.image_url.replace(/^https?:\/\/[^/]+/, app.url))
      assert.equal(picture.status, 200, product.image_url)
      assert.equal(picture.headers.get('content-type'), 'image/webp')
    }
    const { collections } = (await app.anyone.get(publicUrl('acme', 'collections'))).body
    assert.deepEqual(
      collections.map((c: { slug: string }) => c.slug),
      ['tableware', 'living', 'pantry'],
    )
    for (const { slug } of collections) {
      const { body } = await app.anyone.get(publicUrl('acme', `collections/${slug}`))
      assert.ok(body.products.length >= 4)
    }
    assert.ok(products.some((p: { is_subscription: boolean }) => p.is_subscription))
  })

  test('has texts without health claims', async () => {
    const { body } = await (await app.merchant('acme')).get(PRODUCTS)
    const clone = await app.merchant('clone')
    for (const { slug, name, description } of body.products) {
      const made = await clone.post(PRODUCTS, { slug, name, description })
      assert.deepEqual(made.body.warnings, [], slug)
    }
  })

  test('leaves samples that the merchant has changed as they are, and adds the missing ones', async () => {
    const shop = await app.merchant('partial')
    const own = await createProduct(shop, 'harbour-mug', { name: 'My own mug' })
    await shop.post(COLLECTIONS, { slug: 'pantry', title: 'My pantry' })
    const { body } = await shop.post(SEED)
    assert.deepEqual(body, { products_created: 12, collections_created: 2 })
    assert.equal((await shop.get(`${PRODUCTS}/${own.id}`)).body.product.name, 'My own mug')
  })

  test('runs once when it is requested three times at once', async () => {
    const shop = await app.merchant('eager')
    const answers = await Promise.all(Array.from({ length: 3 }, () => shop.post(SEED)))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 201])
    assert.equal((await shop.get(PRODUCTS)).body.total, 13)
  })

  test('writes nothing if another product has the SKU of a sample', async () => {
    const shop = await app.merchant('clash')
    const { id } = await createProduct(shop, 'mine')
    await createVariant(shop, id, { sku: 'DEMO-TEA', price_cents: 1 })
    const answer = await shop.post(SEED)
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'sku_exists'])
    assert.equal((await shop.get(PRODUCTS)).body.total, 1)
  })

  test('is refused for a store that is not a draft', async () => {
    const live = await openLiveStore(app, 'lively')
    const answer = await live.post(SEED)
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'store_not_draft'])
    await setStatus(app, 'lively', 'suspended')
    assert.equal((await live.post(SEED)).status, 409)
    assert.equal((await live.get(PRODUCTS)).body.total, 0)
  })
})
