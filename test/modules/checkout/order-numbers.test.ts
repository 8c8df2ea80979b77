import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cart, checkout, DECLINED, openCheckoutApp, openShop, stock } from './setup.ts'

test('order numbers', async (t) => {
  const app = await openCheckoutApp(t)
  t.afterEach(() => app.assertAddsUp())

  await t.test('begin at 1001 in every store, whatever was refused before', async () => {
    for (const tenant of ['first', 'second']) {
      const shop = await openShop(app, tenant, [1_000])
      const variant = shop.variants[1_000]
      const ban = { kind: 'email', value: 'banned@example.com', action: 'block' }
      assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
      await stock(shop.merchant, variant ?? '', 3)
      for (const [code, more] of [
        ['variant_not_found', { items: [{ variant_id: randomUUID(), quantity: 1 }] }],
        ['insufficient_stock', { items: [{ variant_id: variant, quantity: 4 }] }],
        ['card_required', { card: null }],
        ['coupon_invalid', { coupon_code: 'NOTHING' }],
        ['fraud_rejected', { email: ban.value }],
      ] as const) {
        const refused = await checkout(app, shop, cart(variant, more))
        assert.equal(refused.body.error?.code, code, refused.text)
      }
      for (const number of [1001, 1002]) {
        const placed = await checkout(app, shop, cart(variant))
        assert.equal(placed.body.order?.order_number, number, placed.text)
      }
    }
  })

  await t.test('count attempts to pay: an order that was declined keeps its number', async () => {
    const shop = await openShop(app, 'attempts', [1_000])
    const variant = shop.variants[1_000]
    const declined = await checkout(app, shop, cart(variant, { card: DECLINED }))
    assert.deepEqual([declined.status, declined.body.order?.order_number], [402, 1001])
    const placed = await checkout(app, shop, cart(variant))
    assert.equal(placed.body.order?.order_number, 1002)
  })

  await t.test('are never given twice, while refused checkouts return theirs', async () => {
    const shop = await openShop(app, 'busy', [1_000])
    const variant = shop.variants[1_000]
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        checkout(app, shop, cart(variant, at % 2 === 0 ? {} : { coupon_code: 'NOTHING' })),
      ),
    )
    const numbers = answers.flatMap(({ body }) => body.order?.order_number ?? [])
    assert.equal(numbers.length, 12)
    assert.equal(new Set(numbers).size, 12)
  })
})
