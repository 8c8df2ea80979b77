import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { createLinkToken } from '../../src/modules/order-links/service.ts'
import { readAmount } from '../../storefront/orders/order-refunds.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { card, GOOD_CARD, placeOrder } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
})

const withCart = () => setup.withCart(shop, 'cedar-candle')

/** When an order was placed and what it costs, as a page in English says it. */
async function saidOf(path: string) {
  const { order } = (await merchant.get(`/v1/merchant${path}`)).body
  const time = new Intl.DateTimeFormat('en-US', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  })
  return {
    date: time.format(new Date(order.placed_at)),
    sum: `$${(order.total_cents / 100).toFixed(2)}`,
  }
}

/** The field of the first line's quantity. */
const quantityField = (text: string) => /name="(q:[0-9a-f-]{36})"/.exec(text)?.[1] ?? ''

describe('the list of orders', () => {
  test('shows number, date, sum, state and pictures of each order, and is not cached', async () => {
    const shopper = await withCart()
    const { id } = await setup.variantOf(shop, 'cedar-candle')
    const paths: string[] = []
    for (let placed = 0; placed < 3; placed++) {
      if (placed > 0) await shopper.post('/cart/add', { variant: id, quantity: '1' })
      paths.push(await placeOrder(shopper))
    }
    const { text, headers } = await shopper.get('/orders')
    const cards = text.split('<li><a href="/orders/').slice(1)
    assert.deepEqual(
      cards.map((each) => `/orders/${each.slice(0, 36)}`),
      paths.toReversed(),
    )
    for (const each of cards) {
      const { date, sum } = await saidOf(`/orders/${each.slice(0, 36)}`)
      assert.match(each, /Order \d{4,}/)
      assert.ok(each.includes(`<span>${date}</span>`), `${date} in ${each}`)
      assert.match(each, /Order placed/)
      assert.ok(each.includes(`<span>${sum}</span>`), `${sum} in ${each}`)
      assert.match(each, /<img /)
    }
    assert.equal(headers['cache-control'], 'no-store')
  })
})

describe('the page of an order', () => {
  test('shows date, sum, pictures and quantities, which can be changed only after a click', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const { text } = await shopper.get(`${path}?new=1`)
    assert.match(text, /Thank you for your order!/)
    const { date, sum } = await saidOf(path)
    assert.ok(text.includes(`<dt>Ordered on</dt><dd>${date}</dd>`), date)
    assert.ok(text.includes(`<dt>Total</dt><dd data-total>${sum}</dd>`), sum)
    assert.match(text, /lines-pictured.*<img .*× 1/s)
    assert.match(text, /<details class="order-action"><summary>Change quantities<\/summary>/)
    assert.ok(text.indexOf('name="q:') > text.indexOf('Change quantities'))
  })

  test("shows the address as its country writes it, with the person's name", async () => {
    const shopper = await withCart()
    const key = (await shopper.get('/checkout')).field('key')
    const address = { country: 'US', city: 'Portland', state: 'ME', postal_code: '04101' }
    const { text } = await shopper.follow('/checkout', {
      ...setup.DETAILS,
      ...GOOD_CARD,
      ...address,
      key,
    })
    const lines = [...text.matchAll(/class="address-line"><bdi>([^<]*)/g)].map(([, line]) => line)
    assert.deepEqual(lines, ['Ada', '1 Square', 'Portland, ME 04101', 'United States'])
  })

  test('does not show a line that an edit has removed', async () => {
    const shopper = await withCart()
    const other = await setup.variantOf(shop, 'harbour-mug')
    await shopper.post('/cart/add', { variant: other.id, quantity: '1' })
    const path = await placeOrder(shopper)
    const page = await shopper.get(path)
    const body = { [quantityField(page.text)]: '0', action_key: page.field('action_key') }
    const edited = await shopper.follow(`${path}/edit`, body)
    assert.match(edited.text, /Your order has been changed/)
    assert.doesNotMatch(edited.text, /× 0/)
    assert.equal(edited.text.match(/name="q:/g)?.length, 1)
  })
})

describe('the parcels of an order', () => {
  const fulfillments = '/v1/merchant/fulfillments'

  /** Packs units of one line, and ships them. */
  async function send(order_id: string, line: object, shipment: object) {
    const path = `/v1/merchant/orders/${order_id}/fulfillments`
    const { body } = await merchant.post(path, { items: [line] })
    const { id } = body.fulfillment
    const shipped = await merchant.post(`${fulfillments}/${id}/ship`, shipment)
    assert.equal(shipped.status, 200, shipped.text)
    return id as string
  }

  test('are shown one by one with their tracking, and the units that are still to come', async () => {
    const shopper = await withCart()
    const mug = await setup.variantOf(shop, 'harbour-mug')
    await shopper.post('/cart/add', { variant: mug.id, quantity: '3' })
    const path = await placeOrder(shopper)
    const id = path.slice('/orders/'.length)
    assert.doesNotMatch((await shopper.get(path)).text, /class="parcels"/)
    const { items } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    const [candle, mugs] = items
    const first = await send(
      id,
      { order_item_id: mugs.id, quantity: 2 },
      { carrier: 'UPS', tracking_number: '1Z999' },
    )
    let { text } = await shopper.get(path)
    assert.match(text, /aria-current="step">On its way</)
    assert.match(text, /data-parcel="shipped".*<strong>Parcel<\/strong>.*2 × Harbour Mug/s)
    assert.match(text, /href="https:\/\/www.ups.com\/track\?tracknum=1Z999" rel="noreferrer"/)
    assert.match(text, /Still to come: 1 × Cedar Candle.*, 1 × Harbour Mug/)
    await send(id, { order_item_id: candle.id, quantity: 1 }, {})
    await merchant.post(`${fulfillments}/${first}/deliver`)
    ;({ text } = await shopper.get(path))
    assert.match(text, /Parcel 1 of 2<\/strong> <span>delivered on/)
    assert.match(text, /Parcel 2 of 2<\/strong> <span>on its way since/)
    assert.match(text, /Still to come: 1 × Harbour Mug/)
  })

  test('the parcels of an order that are lost are reported, without a tracking link', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const id = path.slice('/orders/'.length)
    const { items } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    const line = { order_item_id: items[0].id, quantity: 1 }
    const tracking = { tracking_url: 'https://carrier.example/lost' }
    const parcel = await send(id, line, tracking)
    await merchant.post(`${fulfillments}/${parcel}/cancel`, { reason: 'lost' })
    const { text } = await shopper.get(path)
    assert.match(text, /did not arrive; the store takes care of it/)
    assert.doesNotMatch(text, /carrier\.example/)
    assert.match(text, /Still to come: 1 × Cedar Candle/)
    assert.match(text, /aria-current="step">Ordered</)
  })
})

describe('a return', () => {
  const shipAll = async (id: string) => {
    const path = `/v1/merchant/orders/${id}/fulfillments`
    const { body } = await merchant.post(path)
    await merchant.post(`/v1/merchant/fulfillments/${body.fulfillment.id}/ship`)
  }
  const fieldOf = (text: string) => /name="(r:[0-9a-f-]{36})"/.exec(text)?.[1] ?? ''

  test('is requested once something has shipped, answered, and followed on the page', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const id = path.slice('/orders/'.length)
    assert.doesNotMatch((await shopper.get(path)).text, /Send something back/)
    await shipAll(id)
    const page = await shopper.get(path)
    assert.match(page.text, /<summary>Send something back<\/summary>/)
    const form = { action_key: page.field('action_key'), reason: 'too <small>' }
    const nothing = await shopper.follow(`${path}/return`, { ...form, [fieldOf(page.text)]: '0' })
    assert.match(nothing.text, /Please choose how many.*value="too &lt;small&gt;"/s)
    const asked = await shopper.follow(`${path}/return`, { ...form, [fieldOf(page.text)]: '1' })
    assert.match(asked.text, /We have got your request/)
    assert.match(asked.text, /data-return="requested".*Asked for.*1 × Cedar Candle/s)
    assert.match(asked.text, /It is sent back already/)
    const again = await shopper.follow(`${path}/return`, { ...form, [fieldOf(page.text)]: '1' })
    assert.equal(
      again.text.match(/data-return=/g)?.length,
      1,
      'a form that is sent twice acts once',
    )
    const { returns } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    assert.deepEqual([returns.length, returns[0].lines[0].reason], [1, 'too <small>'])
    await merchant.post(`/v1/merchant/returns/${returns[0].id}/approve`, {
      instructions: 'Ring <twice>',
      label_url: 'https://labels.example/1',
    })
    const { text } = await shopper.get(path)
    assert.match(text, /Approved: please send it/)
    assert.match(text, /Ring &lt;twice&gt;/)
    assert.match(text, /href="https:\/\/labels.example\/1" rel="noreferrer">Print the label/)
  })

  test('a return of more than was shipped, or of another shopper, is refused', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    await shipAll(path.slice('/orders/'.length))
    const page = await shopper.get(path)
    const field = fieldOf(page.text)
    const form = { action_key: page.field('action_key'), reason: '', [field]: '7' }
    assert.match((await shopper.follow(`${path}/return`, form)).text, /Fewer can be sent back/)
    const stranger = await withCart()
    assert.equal((await stranger.post(`${path}/return`, { ...form, [field]: '1' })).status, 404)
    assert.doesNotMatch((await shopper.get(path)).text, /data-return=/)
  })
})

describe('a payment request', () => {
  /** Exchanges one bought unit for two of the same variant: the shopper has to pay for the second. */
  const askToPay = async (path: string) => {
    const order_id = path.slice('/orders/'.length)
    const { body } = await merchant.post(`/v1/merchant/orders/${order_id}/fulfillments`)
    await merchant.post(`/v1/merchant/fulfillments/${body.fulfillment.id}/ship`)
    const { items } = (await merchant.get(`/v1/merchant/orders/${order_id}`)).body
    const lines = [{ order_item_id: items[0].id, quantity: 1 }]
    const made = await merchant.post('/v1/merchant/returns', { order_id, lines })
    const wanted = { items: [{ variant_id: items[0].variant_id, quantity: 2 }], advance: true }
    const url = `/v1/merchant/returns/${made.body.return.id}/exchange`
    const exchanged = await merchant.post(url, wanted, { 'idempotency-key': randomUUID() })
    assert.equal(exchanged.status, 201, exchanged.text)
    return exchanged.body.order.id as string
  }

  test('is paid from the page that its link opens, without an account, and once', async () => {
    const id = await askToPay(await placeOrder(await withCart()))
    const other = openShopper(shop.url, 'demo.localhost')
    assert.equal((await other.get(`/orders/${id}`)).status, 404)
    const key = shop.runtime.key('order link')
    const { order: asked } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    const token = createLinkToken(key, shop.runtime.database.tenant('demo'), asked, 30)
    const opened = await other.get(`/orders/link/${token}`)
    const page = await other.get(String(opened.headers.location))
    assert.match(page.text, /Waiting for your payment/)
    assert.match(page.text, /To pay: \$\d+\.\d\d/)
    const form = { action_key: page.field('action_key') }
    const path = `/orders/${id}/pay`
    assert.match((await other.follow(path, form)).text, /Please enter|Please check your card/)
    const declined = await other.follow(path, { ...form, ...card('4000000000000002') })
    assert.match(declined.text, /role="alert"/)
    const fresh = { action_key: declined.field('action_key'), ...GOOD_CARD }
    const paid = await other.follow(path, fresh)
    assert.match(paid.text, /Thank you, your payment has arrived/)
    assert.doesNotMatch(paid.text, /data-payment/)
    const again = await other.follow(path, fresh)
    assert.match(again.text, /Thank you, your payment has arrived/, 'sent twice, paid once')
    const late = await other.follow(path, { action_key: paid.field('action_key'), ...GOOD_CARD })
    assert.match(late.text, /not to be paid any more/)
    const { order, charges } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    assert.deepEqual([order.status, charges.length], ['placed', 2])
    const stranger = await withCart()
    assert.equal((await stranger.post(path, fresh)).status, 404)
  })
})

describe('an edit', () => {
  test('an edit that costs more asks for a card, and charges it for the difference', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const page = await shopper.get(path)
    const field = quantityField(page.text)
    const first = { [field]: '3', action_key: page.field('action_key') }
    const asked = await shopper.follow(`${path}/edit`, first)
    assert.match(asked.text, /Please enter a card to pay the difference/)
    assert.match(asked.text, /name="card_number"/)
    const declined = await shopper.follow(`${path}/edit`, {
      [field]: '3',
      ...card('4000000000000002'),
      action_key: asked.field('action_key'),
    })
    assert.match(declined.text, /Your card was declined/)
    const paid = { [field]: '3', ...GOOD_CARD, action_key: declined.field('action_key') }
    assert.match((await shopper.follow(`${path}/edit`, paid)).text, /Your order has been changed/)
    assert.match((await shopper.follow(`${path}/edit`, paid)).text, /Order placed/)
    // The page before, as the Back button shows it, with another quantity.
    const back = await shopper.follow(`${path}/edit`, { ...paid, [field]: '2' })
    assert.match(back.text, /This form was already sent/)
    assert.doesNotMatch(back.text, /Nothing was charged/)
  })

  test('an edit whose payment is not confirmed says so, and is not shown as an outage', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const page = await shopper.get(path)
    const silent = card('4000 0000 0000 5126')
    const form = {
      [quantityField(page.text)]: '3',
      ...silent,
      action_key: page.field('action_key'),
    }
    const { status, text } = await shopper.follow(`${path}/edit`, form)
    assert.equal(status, 200)
    assert.match(text, /role="alert"[^>]*>Your bank has not confirmed this yet/)
  })
})

describe('a refund', () => {
  before(() => setup.allowRefunds(scope, shop))

  test('refunds the amount once, and never more than was paid', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const page = await shopper.get(path)
    assert.match(page.text, /Request a refund/)
    const form = { amount: '2,50', reason: 'A dent', action_key: page.field('action_key') }
    assert.match((await shopper.follow(`${path}/refund`, form)).text, /Your refund is on its way/)
    const again = await shopper.follow(`${path}/refund`, form)
    assert.equal(again.text.match(/\$2\.50 refunded/g)?.length, 1)
    assert.match(again.text, /We are preparing your order/, 'the parcel before the money')
    assert.match(again.text, /class="fact-note">\$2\.50 of \$\d+\.\d\d refunded/)
    const action_key = again.field('action_key')
    const much = { amount: '900', reason: 'All of it', action_key }
    const refused = await shopper.follow(`${path}/refund`, much)
    assert.match(refused.text, /more than what is left to refund/)
    assert.match(refused.text, /value="All of it"/)
    for (const amount of ['0', '-1', '1e3', '1.005', '']) {
      const wrong = await shopper.follow(`${path}/refund`, { amount, action_key })
      assert.match(wrong.text, /Please check the amount/, amount)
    }
  })

  test('a refund form that is sent again with another amount says what it did before, and refunds no more', async () => {
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    const form = { amount: '2.50', action_key: (await shopper.get(path)).field('action_key') }
    const made = await shopper.follow(`${path}/refund`, form)
    assert.match(made.text, /Your refund is on its way/)
    const again = await shopper.follow(`${path}/refund`, { ...form, amount: '3' })
    assert.match(again.text, /This form has already refunded \$2\.50/)
    assert.match(again.text, /name="amount" inputmode="decimal" value="3"/)
    assert.doesNotMatch(again.text, /\$3\.00 refunded/)
    // The page that says so has a form with a new key, which refunds the second amount as well.
    const more = { amount: '3', action_key: again.field('action_key') }
    assert.match((await shopper.follow(`${path}/refund`, more)).text, /\$3\.00 refunded/)
    const much = { amount: '900', action_key: (await shopper.get(path)).field('action_key') }
    assert.match((await shopper.follow(`${path}/refund`, much)).text, /more than what is left/)
    const less = await shopper.follow(`${path}/refund`, { ...much, amount: '1' })
    assert.match(less.text, /already sent and refused, and nothing was changed/)
    assert.doesNotMatch(less.text, /\$1\.00 refunded/)
  })

  test('a refund of another shopper’s order finds no order', async () => {
    const path = await placeOrder(await withCart())
    const stranger = await withCart()
    await stranger.get('/checkout')
    const form = { amount: '1', action_key: 'AAAAAAAAAAAAAAAA' }
    assert.equal((await stranger.post(`${path}/refund`, form)).status, 404)
  })

  test('is neither offered nor made if the store does not let shoppers refund orders', async () => {
    const { body } = await merchant.get('/v1/my/site')
    const { manifest, version } = body.active
    const behavior = { ...manifest.behavior, refunds: { selfServe: false } }
    const shopper = await withCart()
    const path = await placeOrder(shopper)
    await merchant.put('/v1/my/store/manifest', { manifest: { ...manifest, behavior } })
    await until('the form is gone', async () => !(await shopper.get(path)).text.includes('/refund'))
    const form = { amount: '1', action_key: 'AAAAAAAAAAAAAAAA' }
    const refused = await shopper.follow(`${path}/refund`, form)
    assert.match(refused.text, /There is nothing left to refund/)
    assert.doesNotMatch(refused.text, /fact-note/)
    await merchant.post('/v1/my/site/publish', { version })
  })

  test('reads an amount to the cent, in the digits of its currency', () => {
    assert.equal(readAmount('12', 'USD'), 1_200)
    assert.equal(readAmount('0,07', 'EUR'), 7)
    assert.equal(readAmount('1234.5', 'USD'), 123_450)
    assert.equal(readAmount('500', 'JPY'), 500)
    assert.equal(readAmount('500.5', 'JPY'), null)
    assert.equal(readAmount('1.2345', 'KWD'), null)
    assert.equal(readAmount('1.234', 'KWD'), 1_234)
  })
})
