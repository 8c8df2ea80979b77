import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { APPROVED, cart, checkout, DECLINED, openShop, preview, type Shop } from './setup.ts'

describe('a checkout', () => {
  test('places an order and charges the card once', async (t) => {
    const app = await openTestApp(t)
    const shop = await openShop(app)
    const answer = await checkout(app, shop, cart(shop.variants[1_000]), 'k1')
    assert.equal(answer.status, 201, answer.text)
    console.log(JSON.stringify(answer.body, null, 1))
    const again = await checkout(app, shop, cart(shop.variants[1_000]), 'k1')
    assert.equal(again.status, 201)
    assert.equal(again.text, answer.text)
    const declined = await checkout(app, shop, cart(shop.variants[1_000], { card: DECLINED }))
    console.log(declined.status, declined.text)
    const p = await preview(app, shop, { items: [{ variant_id: shop.variants[1_000], quantity: 2 }] })
    console.log(p.status, p.text)
  })
})
