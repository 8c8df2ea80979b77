import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { cart, checkout, counts, openCheckoutApp, openShop } from './setup.ts'

/** How often the checkout asks about one cart at most. */
const TRIES = 3

test('a tax provider that is asked about a cart', async (t) => {
  /** Called while the provider is being asked. */
  let meanwhile: () => Promise<void> = async () => {}
  const asked: number[] = []
  const provider = createServer(async (request, response) => {
    const { lines } = JSON.parse((await Array.fromAsync(request)).join(''))
    asked.push(lines[0].amount_cents)
    await meanwhile()
    response.end(JSON.stringify({ tax_cents: lines[0].amount_cents / 10 }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  t.after(() => {
    provider.closeAllConnections()
    provider.close()
  })
  const { port } = provider.address() as AddressInfo
  const app = await openCheckoutApp(t, {
    env: { TAX_PROVIDER_URL: `http://127.0.0.1:${port}/quote` },
  })
  const shop = await openShop(app, 'acme', [1_000])
  const variant = shop.variants[1_000]
  const body = cart(variant, { tax: { provider: 'acme_tax', rate_bps: 0 } })
  const { rows } = await app.superuser.query('select product_id from variants')
  const product = rows[0].product_id
  let price = 1_000
  /** The merchant changes the price of the variant in the cart. */
  const reprice = async () => {
    price += 100
    const url = `/v1/merchant/catalog/products/${product}/variants/${variant}`
    const answer = await shop.merchant.patch(url, { price_cents: price })
    assert.equal(answer.status, 200, answer.text)
  }
  t.beforeEach(() => {
    asked.length = 0
  })
  t.afterEach(() => app.assertAddsUp())

  await t.test('is asked once if nothing changes', async () => {
    const answer = await checkout(app, shop, body)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual([answer.body.order.tax_cents, answer.body.order.total_cents], [100, 1_100])
    assert.deepEqual(asked, [1_000])
  })

  await t.test('is asked again when the cart has changed meanwhile', async () => {
    let changes = TRIES - 1
    meanwhile = async () => {
      if (changes-- > 0) await reprice()
    }
    const answer = await checkout(app, shop, body)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(asked, [1_000, 1_100, 1_200])
    assert.deepEqual([answer.body.order.tax_cents, answer.body.order.total_cents], [120, 1_320])
  })

  await t.test(
    'is not asked for ever: the checkout sells, reserves and charges nothing, and frees the key',
    async () => {
      meanwhile = reprice
      const before = await counts(app)
      const key = randomUUID()
      const answer = await checkout(app, shop, body, key)
      assert.deepEqual([answer.status, answer.body.error.code], [503, 'service_unavailable'])
      assert.equal(asked.length, TRIES)
      assert.deepEqual(await counts(app), before)
      meanwhile = async () => {}
      const again = await checkout(app, shop, body, key)
      assert.equal(again.status, 201, again.text)
      assert.equal(again.body.order.subtotal_cents, price)
      assert.equal(again.body.order.tax_cents, price / 10)
    },
  )

  await t.test('is asked about an edit, too', async () => {
    const placed = await checkout(app, shop, body)
    const [item] = placed.body.items
    const edits = [{ order_item_id: item.id, quantity: 2 }]
    const answer = await app.storefront.post(
      `/v1/tenants/acme/orders/${placed.body.order.id}/edit`,
      { edits, card: body.card },
      { 'idempotency-key': randomUUID() },
    )
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.tax_cents, price / 5)
    assert.deepEqual(asked, [price, price * 2])
  })
})
