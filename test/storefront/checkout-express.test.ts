import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Caller } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { card, DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
})

const NOW = '/checkout/now'

/** Where "Buy now" of a product leads to, and the fields that its form has. */
async function buyNow(slug: string, quantity = 1) {
  const { id: variant } = await setup.variantOf(shop, slug)
  const fields = { variant, quantity: String(quantity) }
  return { page: `${NOW}?${new URLSearchParams(fields)}`, fields }
}

const orderOf = async (shopper: Shopper, path: string) => (await shopper.get(path)).text

/** Sends a form of the express checkout, and answers with the path of the order. */
async function pay(shopper: Shopper, fields: Record<string, string>): Promise<string> {
  const { headers, text } = await shopper.post(NOW, { ...DETAILS, ...GOOD_CARD, ...fields })
  assert.match(String(headers.location), /^\/orders\//, text)
  return String(headers.location).split('?')[0] ?? ''
}

describe('"Buy now"', () => {
  test('stands on a product page, and leads to the checkout of that product alone', async () => {
    const shopper = await setup.withCart(shop, 'cedar-candle', 2)
    const product = await shopper.get('/products/fern-teapot')
    assert.match(
      product.text,
      /<button [^>]*formaction="\/checkout\/now" formmethod="get">Buy now</,
    )
    const { page, fields } = await buyNow('fern-teapot')
    const seen = await shopper.get(page)
    assert.match(seen.text, /action="\/checkout\/now" data-checkout/)
    assert.match(seen.text, /class="line-name">Fern Teapot</)
    assert.doesNotMatch(seen.text, /Cedar/)
    assert.match(seen.text, /data-count="2"/, 'the header shows the cart as it is')
    const order = await orderOf(shopper, await pay(shopper, { ...fields, key: seen.field('key') }))
    assert.match(order, /Order placed[\s\S]+Fern Teapot/)
    assert.match((await shopper.get('/cart')).text, /Cedar[\s\S]+value="2" min="0"/)
  })

  test('buys once, however often its form is sent and its page loaded', async () => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    const { page, fields } = await buyNow('fern-teapot')
    const first = await shopper.get(page)
    const key = first.field('key')
    const again = await shopper.get(page)
    const idOf = (text: string) => text.split('|')[0]
    assert.equal(
      idOf(again.field('key')),
      idOf(key),
      'a page that is loaded again has the same key',
    )
    const before = await setup.countOrders(merchant)
    const cookies = new Map(shopper.cookies)
    const path = await pay(shopper, { ...fields, key })
    assert.equal(await pay(shopper, { ...fields, key }), path, 'sent once more')
    // A browser that the answer never reached.
    const lost = openShopper(shop.url, 'demo.localhost')
    for (const [name, value] of cookies) lost.cookies.set(name, value)
    const reloaded = await lost.get(page)
    assert.equal(await pay(lost, { ...fields, key: reloaded.field('key') }), path)
    assert.equal(await setup.countOrders(merchant), before + 1)
    for (const each of [shopper, lost]) {
      const fresh = await each.get(page)
      assert.notEqual(idOf(fresh.field('key')), idOf(key), 'another purchase has another key')
    }
  })

  test('"Buy now" in two tabs buys two products, and neither touches the other', async () => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    const [teapot, candle] = [await buyNow('fern-teapot'), await buyNow('cedar-candle')]
    const first = await shopper.get(teapot.page)
    const second = await shopper.get(candle.page)
    const one = await pay(shopper, { ...teapot.fields, key: first.field('key') })
    const two = await pay(shopper, { ...candle.fields, key: second.field('key') })
    assert.match(await orderOf(shopper, one), /Fern Teapot/)
    assert.match(await orderOf(shopper, two), /Cedar/)
  })

  test('"Buy now" that is declined can be paid with another card, also from the page before', async () => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    const { page, fields } = await buyNow('cedar-candle')
    const key = (await shopper.get(page)).field('key')
    const form = { ...DETAILS, ...fields, key }
    const seen = await shopper.post(NOW, { ...form, ...card('4000 0000 0000 0002') })
    assert.match(seen.text, /id="card-error"[^>]*>Your card was declined/)
    // The back button shows the form before, with the old key.
    assert.match(await orderOf(shopper, await pay(shopper, form)), /Order placed/)
  })

  test('keeps the chosen code and shipping', async () => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    const { page, fields } = await buyNow('fern-teapot', 2)
    const key = (await shopper.get(page)).field('key')
    const updated = await shopper.post(`${NOW}/update`, { ...fields, key, coupon: 'WELCOME10' })
    assert.match(updated.text, /The code WELCOME10 has been applied/)
    const more = { ...fields, coupon: 'WELCOME10', key: updated.field('key') }
    assert.match(await orderOf(shopper, await pay(shopper, more)), /WELCOME10/)
    assert.match((await shopper.get('/cart')).text, /Your cart is empty/)
  })

  test('"Buy now" without an available product leads to the products, and with too many units to the product', async () => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    for (const query of ['', '?variant=x', '?variant=00000000-0000-4000-8000-000000000000']) {
      assert.equal((await shopper.get(NOW + query)).headers.location, '/products', query)
    }
    const { id } = await setup.variantOf(shop, 'wool-blanket')
    await merchant.put(`/v1/merchant/inventory/${id}`, { track_inventory: true })
    await merchant.post(`/v1/merchant/inventory/${id}/adjust`, {
      set_on_hand: 1,
      reason: 'counted',
    })
    const { page } = await buyNow('wool-blanket', 2)
    assert.equal((await shopper.get(page)).headers.location, '/products/wool-blanket')
  })
})

describe('the sentence about the card', () => {
  test('says when it is charged and who sees its number, and what a subscription adds', async () => {
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key: 'subscriptions' })
    const shopper = await setup.withCart(shop, 'house-coffee')
    const note = ({ text }: { text: string }) => /id="card-note">([^<]*)/.exec(text)?.[1] ?? ''
    const once = await shopper.get('/checkout')
    assert.match(note(once), /charged when you place the order.*through our server.*do not store/)
    assert.doesNotMatch(note(once), /each delivery/)
    const again = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
    assert.match(note(again), /stores the card, and it is charged again for each delivery/)
  })
})
