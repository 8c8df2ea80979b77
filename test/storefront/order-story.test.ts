import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../src/kernel/time.ts'
import type { Caller } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { placeOrder } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
})

const withCart = () => setup.withCart(shop, 'cedar-candle')

describe('the story of an order', () => {
  const DAY = new Date(Date.now() + 60 * DAY_MS)
  const SHOWN_DAY = new Intl.DateTimeFormat('en-US', {
    dateStyle: 'medium',
    timeZone: 'UTC',
  }).format(DAY)

  const headOf = (text: string) =>
    /<h1>([^<]*)<\/h1>\s*<p class="lead">([^<]*)</.exec(text)?.slice(1) ?? []

  /** Packs and ships all units of an order. */
  async function ship(path: string, tracking: object = {}): Promise<string> {
    const id = path.slice('/orders/'.length)
    const { body } = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`)
    const parcel = `/v1/merchant/fulfillments/${body.fulfillment.id}`
    assert.equal((await merchant.post(`${parcel}/ship`, tracking)).status, 200)
    return parcel
  }

  const refund = (path: string, body: object = {}) =>
    merchant.post(`/v1/merchant${path}/refunds`, body, { 'idempotency-key': randomUUID() })

  test('begins with what happens next, from the packing to the arrival', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const placed = await shopper.get(path)
    assert.deepEqual(headOf(placed.text), [
      'We are preparing your order',
      'We will mail you as soon as it ships.',
    ])
    const parcel = await ship(path, { carrier: 'UPS', tracking_number: '1Z999' })
    const shipped = await shopper.get(path)
    assert.deepEqual(headOf(shipped.text), ['Your order is on its way', 'UPS brings it to you.'])
    assert.match(
      shipped.text,
      /<a class="button" href="https:\/\/www.ups.com[^"]*"[^>]*>Track this parcel</,
    )
    assert.equal(shipped.text.split('Track this parcel').length, 2, 'one way to one page')
    assert.ok(shipped.text.indexOf('class="parcels"') < shipped.text.indexOf('Items in this order'))
    await merchant.post(`${parcel}/deliver`)
    const delivered = headOf((await shopper.get(path)).text)
    assert.equal(delivered[0], 'Your order has arrived')
  })

  test('shows the parcel before the money, also after a refund', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    await refund(path, { amount_cents: 500 })
    const partly = await shopper.get(path)
    assert.equal(headOf(partly.text)[0], 'We are preparing your order')
    assert.match(partly.text, /data-status="partially_refunded">Order placed</)
    assert.match(partly.text, /class="fact-note">\$5\.00 of \$\d+\.\d\d refunded</)
    assert.match((await shopper.get('/orders')).text, /<span>Order placed<\/span>/)
    await ship(path)
    await refund(path)
    const all = await shopper.get(path)
    assert.equal(headOf(all.text)[0], 'Your order is on its way')
    assert.match(all.text, /class="fact-note">\$\d+\.\d\d refunded</)
  })

  test('the story of an order that was refunded before it left says so, and that nothing more comes', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    await refund(path)
    const { text } = await shopper.get(path)
    assert.equal(headOf(text)[0], 'Refunded')
    assert.match(headOf(text)[1] ?? '', /were refunded to the original payment method/)
    assert.doesNotMatch(text, /class="progress"|Cancel this order/)
  })

  test('the story of an order of gift cards alone is about e-mails: nothing ships, and nothing is sent back', async () => {
    const { body } = await shop.anyone.get('/v1/tenants/demo/catalog/products/gift-card')
    for (const [gift, head] of [
      [
        { recipient_email: 'robin@example.com' },
        ['Your gift card is on its way by email', 'It goes to robin@example.com.'],
      ],
      [{}, ['Your gift card is on its way by email', 'It goes to ada@example.com.']],
      [
        { recipient_email: 'robin@example.com', send_on: DAY.toISOString().slice(0, 10) },
        [`Your gift card will be mailed on ${SHOWN_DAY}`, 'You need not do anything until then.'],
      ],
    ] as const) {
      const shopper = openShopper(shop.url, 'demo.localhost')
      const variant = body.product.variants[0].id
      await shopper.post('/cart/add', { variant, quantity: '1', ...gift })
      const { text } = await shopper.get(await placeOrder(shopper))
      assert.deepEqual(headOf(text), head)
      const state = 'send_on' in gift ? 'Will be sent by email' : 'Sent by email'
      assert.ok(text.includes(`data-status="delivered">${state}<`), state)
      assert.doesNotMatch(text, /Send something back|Ships to|class="progress"/)
    }
  })

  test('offers no refund by the shopper in the demo, and the ways to change an order last', async () => {
    const shopper = await withCart()
    const { text } = await shopper.get(await placeOrder(shopper))
    assert.doesNotMatch(text, /Request a refund/)
    assert.ok(text.indexOf('Change quantities') > text.indexOf('data-total'))
    assert.ok(text.indexOf('Cancel this order') > text.indexOf('Change quantities'))
  })
})
