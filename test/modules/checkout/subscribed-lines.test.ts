import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { addVariant, cart, checkout, enable, openShop, type Shop } from './setup.ts'

const MONTHLY = {
  is_subscription: true,
  subscription_interval: 'month',
  subscription_interval_count: 1,
  subscription_price_cents: 800,
}

let app: TestApp
let shop: Shop
let coffee: string
let tea: string
let cup: string

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  shop = await openShop(app, 'lines')
  await enable(shop.merchant, 'subscriptions', 'subscribe_and_save')
  coffee = await addVariant(shop.merchant, 1_000, MONTHLY)
  tea = await addVariant(shop.merchant, 1_000, MONTHLY)
  cup = await addVariant(shop.merchant, 2_000)
})

const preview = (body: object) =>
  app.storefront.post(`/v1/tenants/${shop.tenant}/checkout/preview`, body)

describe('a line of a checkout', () => {
  test('is subscribed to alone, at its subscription price, and the other lines are bought once', async () => {
    const items = [
      { variant_id: coffee, quantity: 2, subscribe: true },
      { variant_id: tea, quantity: 1 },
      { variant_id: cup, quantity: 1, subscribe: false },
    ]
    const quote = await preview({ items })
    assert.equal(quote.body.subtotal_cents, 1_600 + 1_000 + 2_000)
    const { quote_token } = quote.body
    const answer = await checkout(app, shop, cart(coffee, { items, quote_token }))
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.order.subtotal_cents, 4_600)
    assert.deepEqual(
      answer.body.subscriptions.map((each: { variant_id: string }) => each.variant_id),
      [coffee],
    )
    assert.deepEqual(
      answer.body.items.map((each: { is_subscription: boolean }) => each.is_subscription),
      [true, false, false],
    )
  })

  test('may have the same variant as another line: one bought once, one subscribed to', async () => {
    const items = [
      { variant_id: coffee, quantity: 1, subscribe: true },
      { variant_id: coffee, quantity: 3 },
    ]
    const answer = await checkout(app, shop, cart(coffee, { items }))
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.order.subtotal_cents, 800 + 3_000)
    const [started, ...more] = answer.body.subscriptions
    assert.deepEqual(more, [])
    const path = `/v1/merchant/subscriptions/${started.id}`
    assert.equal((await shop.merchant.get(path)).body.subscription.quantity, 1)
  })

  test('overrides the choice for the whole order', async () => {
    const items = [
      { variant_id: coffee, quantity: 1, subscribe: false },
      { variant_id: tea, quantity: 1 },
    ]
    assert.equal((await preview({ items, subscribe: true })).body.subtotal_cents, 1_800)
    const answer = await checkout(app, shop, cart(coffee, { items, subscribe: true }))
    assert.deepEqual(
      answer.body.subscriptions.map((each: { variant_id: string }) => each.variant_id),
      [tea],
    )
  })

  test('is refused if its variant cannot be subscribed to, or the value is not valid', async () => {
    const items = (subscribe: unknown) => [{ variant_id: cup, quantity: 1, subscribe }]
    for (const subscribe of [true, 'yes', 1, null]) {
      for (const answer of [
        await preview({ items: items(subscribe) }),
        await checkout(app, shop, cart(cup, { items: items(subscribe) })),
      ]) {
        assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_body'])
        assert.match(answer.text, /items\.0\.subscribe/)
      }
    }
  })

  test('needs the add-on and a card, as a subscription of the whole order does', async () => {
    const plain = await openShop(app, 'lines-plain')
    const variant = await addVariant(plain.merchant, 1_000, MONTHLY)
    const items = [{ variant_id: variant, quantity: 1, subscribe: true }]
    const answer = await checkout(app, plain, cart(variant, { items }))
    assert.deepEqual(
      [answer.status, answer.body.error.code, answer.body.feature_key],
      [422, 'feature_disabled', 'subscriptions'],
    )
  })
})
