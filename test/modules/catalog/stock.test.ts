import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { STOCK_FRESH_MS } from '../../../src/modules/catalog/live-reads.ts'
import type { TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { suiteScope } from '../../harness/scope.ts'
import { cart, checkout, openShop, type Shop, stock } from '../checkout/setup.ts'
import { createCollection, createVariant, openCachingApp, publicUrl } from './setup.ts'

let app: TestApp

const scope = suiteScope()
before(async () => {
  // The slow clock of other tests would let an answer live for minutes.
  const cacheClock = { now: () => performance.now() }
  app = await openCachingApp(scope, { cacheClock })
})

const stores: string[] = []
const open = async (prices: readonly number[] = [1_000]): Promise<Shop> => {
  const tenant = `stock-${stores.push('')}`
  return openShop(app, tenant, prices)
}

interface Shown {
  id: string
  slug: string
  available: boolean
  low_stock: boolean
  variants: { id: string; available: boolean; low_stock: boolean; available_units: number | null }[]
}

const list = async ({ tenant }: Shop): Promise<Shown[]> =>
  (await app.anyone.get(publicUrl(tenant))).body.products

const first = async (shop: Shop): Promise<Shown> => {
  const [product] = await list(shop)
  assert.ok(product)
  return product
}

const essence = ({ available, low_stock, variants }: Shown) => [
  available,
  low_stock,
  ...variants.map((each) => [each.available, each.low_stock, each.available_units]),
]

describe('what public answers say of stock', () => {
  test('says that a variant is available unless its stock is counted and nothing is left', async () => {
    const shop = await open()
    const variant = shop.variants[1_000] ?? ''
    assert.deepEqual(essence(await first(shop)), [true, false, [true, false, null]])
    await stock(shop.merchant, variant, 0)
    assert.deepEqual(essence(await first(shop)), [false, false, [false, false, null]])
    await stock(shop.merchant, variant, 1)
    assert.deepEqual(essence(await first(shop)), [true, false, [true, false, null]])
    await stock(shop.merchant, variant, 0)
    const backorder = { track_inventory: true, allow_backorder: true, low_stock_threshold: 9 }
    await shop.merchant.put(`/v1/merchant/inventory/${variant}`, backorder)
    assert.deepEqual(essence(await first(shop)), [true, false, [true, false, null]])
  })

  test('is the same in lists, products, collections, search and carts', async () => {
    const shop = await open()
    const variant = shop.variants[1_000] ?? ''
    await stock(shop.merchant, variant, 0)
    const product = await first(shop)
    const other = await createVariant(shop.merchant, product.id, {
      sku: randomUUID(),
      price_cents: 5,
    })
    await createCollection(shop.merchant, 'all', [product.id])
    const read = async (rest: string) => (await app.anyone.get(publicUrl(shop.tenant, rest))).body
    const expected = [true, false, [false, false, null], [true, false, null]]
    const answers: Shown[] = [
      (await read('products')).products[0],
      (await read(`products/${product.slug}`)).product,
      (await read('products?limit=1')).products[0],
      (await read(`products?variants=${other.id}`)).products[0],
      (await read('collections/all')).products[0],
      (await read('search?q=worth')).results[0],
    ]
    for (const each of answers) assert.deepEqual(essence(each), expected)
    const { product: own } = (
      await shop.merchant.get(`/v1/merchant/catalog/products/${product.id}`)
    ).body
    assert.equal('available' in own, false)
  })

  test("says that few units are left, and how many, only as the store's setting allows", async () => {
    const shop = await open()
    const variant = shop.variants[1_000] ?? ''
    await stock(shop.merchant, variant, 3)
    const url = `/v1/merchant/inventory/${variant}`
    await shop.merchant.put(url, { track_inventory: true, low_stock_threshold: 3 })
    const hint = async (stock_hint: string) => {
      const set = await shop.merchant.patch('/v1/my/store', { stock_hint })
      assert.deepEqual([set.status, set.body.store.stock_hint], [200, stock_hint])
      return essence(await first(shop))
    }
    assert.deepEqual(essence(await first(shop)), [true, false, [true, false, null]])
    assert.deepEqual(await hint('low'), [true, true, [true, true, null]])
    assert.deepEqual(await hint('count'), [true, true, [true, true, 3]])
    await shop.merchant.post(`${url}/adjust`, { set_on_hand: 4, reason: 'count' })
    assert.deepEqual(essence(await first(shop)), [true, false, [true, false, null]])
    assert.deepEqual(await hint('none'), [true, false, [true, false, null]])
    const refused = await shop.merchant.patch('/v1/my/store', { stock_hint: 'all' })
    assert.deepEqual([refused.status, refused.body.issues[0].path], [400, 'stock_hint'])
  })
})

describe('a sale', () => {
  test('a sale of the last unit shows in answers from memory within seconds, and so does its return', async () => {
    const shop = await open()
    const variant = shop.variants[1_000] ?? ''
    await stock(shop.merchant, variant, 1)
    const { slug } = await first(shop)
    const isAvailable = async () => {
      const one = (await app.anyone.get(publicUrl(shop.tenant, `products/${slug}`))).body.product
      const [listed] = await list(shop)
      return [one.available, listed?.available]
    }
    assert.deepEqual(await isAvailable(), [true, true])
    const placed = await checkout(app, shop, cart(variant))
    assert.equal(placed.status, 201, placed.text)
    const becomes = (expected: boolean) => async () =>
      (await isAvailable()).every((each) => each === expected)
    await until('sold out', becomes(false), STOCK_FRESH_MS + 25_000)
    const cancel = { reason: 'other', restock: true }
    const url = `/v1/merchant/orders/${placed.body.order.id}/cancel`
    const cancelled = await shop.merchant.post(url, cancel, { 'idempotency-key': randomUUID() })
    assert.equal(cancelled.status, 200, cancelled.text)
    await until('back in stock', becomes(true), STOCK_FRESH_MS + 25_000)
  })
})
