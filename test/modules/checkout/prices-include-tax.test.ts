import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import {
  ALL_OPTIONS,
  APPROVED,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  preview,
} from './setup.ts'

const VAT = { provider: 'flat_rate', rate_bps: 1_900 }
const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 490,
  expedited_rate_cents: 990,
  max_cents: 990,
}
const GROSS = { ...ALL_OPTIONS, tax: { prices_include_tax: true } }

test('prices with the tax inside', async (t) => {
  const asked: Record<string, unknown>[] = []
  const provider = createServer(async (request, response) => {
    asked.push(JSON.parse(await text(request)))
    response.end(JSON.stringify({ tax_cents: 300 }))
  })
  await new Promise<void>((done) => void provider.listen(0, '127.0.0.1', done))
  t.after(() => provider.close())
  const { port } = provider.address() as AddressInfo
  const env = { TAX_PROVIDER_URL: `http://127.0.0.1:${port}/` }
  const app = await openCheckoutApp(t, { env })
  const shop = await openShop(app, 'brutto', [1_000, 1_190], GROSS)
  const { merchant } = shop
  await enable(merchant, 'gift_cards', 'store_credit')
  const item = shop.variants[1_190]
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const ask = (id: string, verb: string, body: object) =>
    merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, { 'idempotency-key': randomUUID() })
  const ledgerOf = async (id: string) => {
    const { rows } = await app.superuser.query(
      `select e.account, sum(e.amount_cents)::int as cents
         from ledger_entries e join ledger_journals j on j.tenant_ref = e.tenant_ref and j.id = e.journal_id
        where j.order_id = $1 group by 1`,
      [id],
    )
    return Object.fromEntries(rows.map(({ account, cents }) => [account, cents]))
  }
  t.afterEach(() => app.assertAddsUp())

  await t.test('are paid as they are shown, and the ledger has the tax apart', async () => {
    const body = cart(item, { tax: VAT, shipping: SHIPPING })
    const shown = (await preview(app, shop, { items: body.items, tax: VAT, shipping: SHIPPING }))
      .body
    assert.deepEqual(
      [shown.subtotal_cents, shown.tax_cents, shown.shipping_cents, shown.total_cents],
      [1_190, 268, 490, 1_680],
    )
    const { order, items } = (await checkout(app, shop, body)).body
    assert.deepEqual(
      [order.subtotal_cents, order.tax_cents, order.total_cents, order.prices_include_tax],
      [1_190, 268, 1_680, true],
    )
    assert.equal(items[0].tax_cents, 268)
    assert.deepEqual([shown.tax_rate_bps, order.tax_rate_bps], [1_900, 1_900])
    assert.equal((await read(order.id)).order.tax_rate_bps, 1_900)
    const { sales, tax_payable, shipping_income, card_clearing } = await ledgerOf(order.id)
    assert.deepEqual(
      [sales, tax_payable, shipping_income, card_clearing],
      [-1_000, -268, -412, 1_680],
    )
    const csv = (await merchant.get('/v1/merchant/orders/export.csv')).text
    const [header = '', first = ''] = csv.split('\r\n')
    assert.match(header, /,"prices_include_tax","gift_card_cents",/)
    assert.match(first, /,"true","0","0","","0"$/)
    const { rows } = await app.superuser.query(
      "select data::jsonb -> 'order' -> 'prices_include_tax' as inside from webhook_events where order_id = $1",
      [order.id],
    )
    assert.deepEqual(rows, [{ inside: true }])
  })

  await t.test(
    'are refunded by units, shipping and rest, each with the tax that it contained',
    async () => {
      const items = [{ variant_id: shop.variants[1_000], quantity: 3 }]
      const body = cart(undefined, { items, tax: VAT, shipping: SHIPPING })
      const placed = (await checkout(app, shop, body)).body
      const { id } = placed.order
      assert.equal(placed.order.tax_cents, 557, '3,490 × 19 / 119')
      const line = { order_item_id: placed.items[0].id, quantity: 1 }
      const shown = await ask(id, 'refunds/preview', { items: [line] })
      assert.deepEqual([shown.body.amount_cents, shown.body.tax_cents], [1_000, 159], shown.text)
      const unit = (await ask(id, 'refunds', { items: [line] })).body.refund
      assert.deepEqual([unit.amount_cents, unit.product_cents, unit.tax_cents], [1_000, 841, 159])
      const shipping = (await ask(id, 'refunds', { shipping_cents: 490 })).body.refund
      assert.deepEqual(
        [shipping.amount_cents, shipping.shipping_cents, shipping.tax_cents],
        [490, 412, 78],
      )
      const rest = (await ask(id, 'refunds', {})).body.refund
      assert.deepEqual([rest.amount_cents, rest.tax_cents], [2_000, 320])
      const { tax_payable, shipping_income } = await ledgerOf(id)
      assert.deepEqual([tax_payable, shipping_income], [0, 0])
    },
  )

  await t.test('let the shipping be refunded in parts, which add up to what was paid', async () => {
    const { id } = (await checkout(app, shop, cart(item, { tax: VAT, shipping: SHIPPING }))).body
      .order
    const parts = [1, 100, 3, 200, 7, 178, 1]
    for (const shipping_cents of parts) {
      const refunded = await ask(id, 'refunds', { shipping_cents })
      assert.equal(refunded.status, 201, refunded.text)
      assert.equal(refunded.body.refund.amount_cents, shipping_cents)
    }
    const more = await ask(id, 'refunds', { shipping_cents: 1 })
    assert.deepEqual([more.status, more.body.refundable_cents], [422, 0])
    const rest = await ask(id, 'refunds', {})
    assert.equal(rest.body.refund.amount_cents, 1_190, rest.text)
  })

  await t.test('count gift cards and store credit as tenders, not as discounts', async () => {
    const { code } = await issueGiftCard(merchant, 300)
    await giveCredit(merchant, 'gina', 200)
    const tenders = { apply_store_credit: true, gift_card_code: code, customer_ref: 'gina' }
    const { order, charges } = (await checkout(app, shop, cart(item, { ...tenders, tax: VAT })))
      .body
    assert.deepEqual([order.tax_cents, order.total_cents, charges.length], [190, 1_190, 3])
  })

  await t.test('keep the setting that they were sold with when the store changes it', async () => {
    const { order, items } = (await checkout(app, shop, cart(item, { tax: VAT }))).body
    const net = { ...ALL_OPTIONS, tax: { prices_include_tax: false } }
    await merchant.put('/v1/my/store/manifest', { manifest: net })
    const edits = [{ order_item_id: items[0].id, quantity: 3 }]
    const edited = await app.storefront.post(
      `/v1/tenants/brutto/orders/${order.id}/edit`,
      { edits, card: APPROVED },
      { 'idempotency-key': randomUUID() },
    )
    assert.equal(edited.status, 200, edited.text)
    const { total_cents, tax_cents, prices_include_tax } = edited.body.order
    assert.deepEqual([total_cents, tax_cents, prices_include_tax], [3_570, 570, true])
    assert.deepEqual((await ledgerOf(order.id)).sales, -3_000)
    const later = (await checkout(app, shop, cart(item, { tax: VAT }))).body.order
    assert.deepEqual([later.total_cents, later.prices_include_tax], [1_416, false])
    assert.equal((await read(order.id)).order.prices_include_tax, true)
    await merchant.put('/v1/my/store/manifest', { manifest: GROSS })
  })

  await t.test(
    'are marked as such for a tax provider, whose tax is then contained in the total',
    async () => {
      const tax = { provider: 'acme_tax', rate_bps: 0 }
      const { order } = (await checkout(app, shop, cart(item, { tax }))).body
      assert.equal(asked.at(-1)?.prices_include_tax, true)
      assert.deepEqual([order.tax_cents, order.total_cents], [300, 1_190])
      assert.equal(order.tax_rate_bps, null)
      // The goods are free: the tax that the provider answers is inside the shipping.
      const free = { code: 'FREE', type: 'percent', percent_bps: 10_000 }
      assert.equal((await merchant.post('/v1/merchant/marketing/coupons', free)).status, 201)
      const shipped = { tax, coupon_code: free.code, shipping: SHIPPING }
      const placed = (await checkout(app, shop, cart(item, shipped))).body.order
      assert.deepEqual([placed.tax_cents, placed.total_cents], [300, 490])
      const { shipping_income, tax_payable } = await ledgerOf(placed.id)
      assert.deepEqual([shipping_income, tax_payable], [-190, -300])
      const cancelled = await ask(placed.id, 'cancel', { reason: 'staff' })
      assert.equal(cancelled.status, 200, cancelled.text)
      assert.equal((await ledgerOf(placed.id)).tax_payable, 0)
    },
  )

  await t.test('are refused in a manifest unless they are true or false', async () => {
    for (const tax of [{ prices_include_tax: 'yes' }, 'gross', [true]]) {
      const saved = await merchant.put('/v1/my/store/manifest', { manifest: { tax } })
      assert.deepEqual([saved.status, saved.body.error?.code], [400, 'invalid_body'], saved.text)
    }
  })
})
