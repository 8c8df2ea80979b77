import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { stock } from '../modules/checkout/setup.ts'
import * as setup from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo'], { cacheClock: systemClock })
  merchant = await shop.merchant('demo')
})

const shopper = () => openShopper(shop.url, 'demo.localhost')

/** Sets how many of a product's first variant are there. */
async function setStock(slug: string, units: number): Promise<string> {
  const { id } = await setup.variantOf(shop, slug)
  await stock(merchant, id, units)
  return id
}

const shows = (slug: string, pattern: RegExp) =>
  until(`${slug} shows ${pattern}`, async () =>
    pattern.test((await shopper().get(`/products/${slug}`)).text),
  )

describe('a product that is sold out', () => {
  test('says so on its card, on its page and to search engines, and cannot be added', async () => {
    await setStock('cedar-candle', 0)
    await shows('cedar-candle', /<button class="button button-wide" disabled>Sold out/)
    const { text } = await shopper().get('/products/cedar-candle')
    assert.match(text, /"availability":"https:\/\/schema.org\/OutOfStock"/)
    const list = await shopper().get('/products')
    assert.match(list.text, /cedar-candle"><span class="card-image">.*?Sold out/)
  })

  test('is for sale again once there is stock', async () => {
    await setStock('cedar-candle', 5)
    await shows('cedar-candle', /"availability":"https:\/\/schema.org\/InStock"/)
    assert.match((await shopper().get('/products/cedar-candle')).text, /Add to cart/)
  })
})

describe('a product of which few are left', () => {
  test('says so if the store wants that, and how many if it wants that, too', async (t) => {
    const id = await setStock('garden-tea', 4)
    const settings = { track_inventory: true, low_stock_threshold: 5 }
    await merchant.put(`/v1/merchant/inventory/${id}`, settings)
    const say = (stock_hint: string) => merchant.patch('/v1/my/store', { stock_hint })
    t.after(() => say('low'))
    await say('count')
    await shows('garden-tea', /<p class="stock-note">Only 4 left<\/p>/)
    await say('low')
    await shows('garden-tea', /<p class="stock-note">Only a few left<\/p>/)
    await setStock('garden-tea', 6)
    await until('enough are there', async () => {
      const { text } = await shopper().get('/products/garden-tea')
      return !text.includes('stock-note')
    })
  })
})

describe('a cart with more than there is', () => {
  test('is lowered to the available units on request, and says when none is left', async () => {
    const id = await setStock('wool-blanket', 3)
    await shows('wool-blanket', /InStock/)
    const buyer = await setup.withCart(shop, 'wool-blanket', 9)
    const page = await buyer.get('/cart')
    assert.match(page.text, /Not enough in stock/)
    const lowered = await buyer.follow('/cart', { [`q:${id}`]: '9', lower: id })
    assert.match(lowered.text, new RegExp(`name="q:${id}" value="3"`))
    assert.doesNotMatch(lowered.text, /Not enough in stock/)
    await setStock('wool-blanket', 0)
    const saysSo = async () => /Sold out. Please remove it./.test((await buyer.get('/cart')).text)
    await until('the cart says that nothing is left', saysSo)
    const gone = await buyer.follow('/cart', { lower: id })
    assert.doesNotMatch(gone.text, new RegExp(`name="q:${id}"`))
  })
})
