import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import {
  addressIn,
  type DestinationTax,
  openDestinationTax,
} from '../../harness/destination-tax.ts'
import { countStatuses, times } from '../../harness/refusals.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  ALL_OPTIONS,
  APPROVED,
  addVariant,
  type CheckoutApp,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  preview,
  type Shop,
} from './setup.ts'

let provider: DestinationTax
let app: CheckoutApp
let shop: Shop
let giftCard: string

const DESTINATION = { provider: 'acme_tax', rate_bps: 0 }
const FLAT = { provider: 'flat_rate', rate_bps: 1_000 }
const SHIPPING = { mode: 'flat', flat_rate_cents: 500, expedited_rate_cents: 900, max_cents: 900 }

const scope = suiteScope()
before(async () => {
  provider = await openDestinationTax(scope)
  app = await openCheckoutApp(scope as never, { env: provider.env })
  const manifest = {
    behavior: { ...ALL_OPTIONS.behavior, shipping: { ...SHIPPING, countries: ['US'] } },
  }
  shop = await openShop(app, 'acme', [1_000, 2_000], manifest)
  await enable(shop.merchant, 'gift_cards', 'store_credit')
  giftCard = await addVariant(shop.merchant, 3_000, {}, { gift_card: true })
})

const bodyOf = (more: object = {}) => ({
  customer_ref: 'ann',
  items: [{ variant_id: shop.variants[1_000], quantity: 1 }],
  tax: DESTINATION,
  shipping: SHIPPING,
  ...more,
})

const place = (body: object) => checkout(app, shop, { ...body, card: APPROVED })

describe('a quote for an address', () => {
  test('has the tax of the destination, and the checkout of that address charges it', async () => {
    for (const [state, tax] of [
      ['ME', 83],
      ['TX', 124],
      ['OR', 0],
    ] as const) {
      const body = bodyOf({ shipping_address: addressIn(state) })
      const shown = await preview(app, shop, body)
      assert.equal(shown.status, 200, shown.text)
      assert.deepEqual([shown.body.tax_cents, shown.body.address_required], [tax, false])
      assert.equal(shown.body.amount_due_cents, 1_500 + tax)
      const placed = await place({ ...body, quote_token: shown.body.quote_token })
      assert.equal(placed.status, 201, placed.text)
      assert.equal(placed.body.order.total_cents, shown.body.total_cents)
      assert.ok(!('changed' in placed.body))
    }
  })

  test('asks the provider exactly what the checkout asks, with only the known members of the address', async () => {
    provider.asked.length = 0
    const body = bodyOf({ shipping_address: { ...addressIn('ME'), note: 'ring twice' } })
    await preview(app, shop, body)
    await place(body)
    assert.equal(provider.asked.length, 2)
    assert.deepEqual(provider.asked[0], provider.asked[1])
    assert.deepEqual(provider.asked[0], addressIn('ME'))
  })

  test('fixes its total: an address with another tax is refused, and nothing is sold', async () => {
    const { quote_token } = (
      await preview(app, shop, bodyOf({ shipping_address: addressIn('ME') }))
    ).body
    const answer = await place(bodyOf({ shipping_address: addressIn('TX'), quote_token }))
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'price_changed'])
    assert.deepEqual([answer.body.quoted_cents, answer.body.current_cents], [1_583, 1_624])
  })

  test('is refused for a country that is not served and for an address with a part missing', async () => {
    const abroad = await preview(app, shop, bodyOf({ shipping_address: addressIn('', 'DE') }))
    assert.deepEqual([abroad.status, abroad.body.error.code], [422, 'country_not_served'])
    const { city: _, ...partial } = addressIn('ME')
    const missing = await preview(app, shop, bodyOf({ shipping_address: partial }))
    assert.deepEqual([missing.status, missing.body.error.code], [400, 'invalid_body'])
    assert.equal(missing.body.issues[0].path, 'shipping_address.city')
  })
})

describe('a quote without an address', () => {
  test('says that an address is required if the tax depends on it, and only then', async () => {
    const required = async (more: object) => {
      const shown = await preview(app, shop, bodyOf(more))
      assert.equal(shown.status, 200, shown.text)
      return shown.body.address_required
    }
    assert.equal(await required({}), true)
    assert.equal(await required({ shipping_address: null }), true)
    assert.equal(await required({ shipping_address: addressIn('ME') }), false)
    assert.equal(await required({ tax: FLAT }), false)
    assert.equal(await required({ tax: null }), false)
    assert.equal(await required({ tax: { provider: null, rate_bps: 0 } }), false)
    assert.equal(await required({ items: [{ variant_id: giftCard, quantity: 1 }] }), false)
  })

  test('is placed with the tax of the address, and the answer says what differs, also when it is repeated', async () => {
    const shown = (await preview(app, shop, bodyOf())).body
    assert.deepEqual([shown.tax_cents, shown.total_cents], [0, 1_500])
    const body = bodyOf({ shipping_address: addressIn('ME'), quote_token: shown.quote_token })
    const key = randomUUID()
    const placed = await checkout(app, shop, { ...body, card: APPROVED }, key)
    assert.equal(placed.status, 201, placed.text)
    assert.equal(placed.body.order.total_cents, 1_583)
    assert.deepEqual(placed.body.changed, {
      tax_cents: { quoted_cents: 0, placed_cents: 83 },
      total_cents: { quoted_cents: 1_500, placed_cents: 1_583 },
    })
    const again = await checkout(app, shop, { ...body, card: APPROVED }, key)
    assert.equal(again.text, placed.text)
  })

  test('reports no change if the address changes nothing', async () => {
    const { quote_token } = (await preview(app, shop, bodyOf())).body
    const placed = await place(bodyOf({ shipping_address: addressIn('OR'), quote_token }))
    assert.equal(placed.status, 201, placed.text)
    assert.ok(!('changed' in placed.body))
  })

  test('reports what differs also when the worker has finished the checkout after a crash', async () => {
    const { quote_token } = (await preview(app, shop, bodyOf())).body
    const body = cart(shop.variants[1_000], {
      ...bodyOf({ shipping_address: addressIn('TX'), quote_token }),
    })
    const key = randomUUID()
    await app.crash(shop, body, 'authorized', key)
    await app.expireClaims()
    await app.reconcile()
    const placed = await checkout(app, shop, body, key)
    assert.equal(placed.status, 201, placed.text)
    assert.deepEqual(placed.body.changed.tax_cents, { quoted_cents: 0, placed_cents: 124 })
  })

  test('fixes the items, their prices, the discounts and the shipping', async () => {
    const { merchant, variants } = shop
    const coupon = { code: 'TEN', type: 'percent', percent_bps: 1_000 }
    assert.equal((await merchant.post('/v1/merchant/marketing/coupons', coupon)).status, 201)
    const { quote_token } = (await preview(app, shop, bodyOf())).body
    const refused = async (more: object) => {
      const answer = await place(
        bodyOf({ shipping_address: addressIn('OR'), quote_token, ...more }),
      )
      assert.deepEqual(
        [answer.status, answer.body.error?.code],
        [409, 'price_changed'],
        answer.text,
      )
    }
    await refused({ items: [{ variant_id: variants[2_000], quantity: 1 }] })
    await refused({ items: [{ variant_id: variants[1_000], quantity: 2 }] })
    await refused({ coupon_code: 'TEN' })
    await refused({ expedited: true })
    await refused({ shipping: { ...SHIPPING, flat_rate_cents: 501 } })
    await refused({ items: [{ variant_id: giftCard, quantity: 1 }], shipping: null })
  })

  test('is shown without tax if the provider needs an address, and the checkout charges it', async () => {
    provider.needsAddress = true
    const shown = await preview(app, shop, bodyOf())
    assert.equal(shown.status, 200, shown.text)
    assert.deepEqual([shown.body.tax_cents, shown.body.address_required], [0, true])
    const { quote_token } = shown.body
    const without = await place(bodyOf({ quote_token }))
    assert.deepEqual([without.status, without.body.error.code], [503, 'service_unavailable'])
    const placed = await place(bodyOf({ quote_token, shipping_address: addressIn('ME') }))
    assert.equal(placed.status, 201, placed.text)
    assert.equal(placed.body.order.tax_cents, 83)
    provider.needsAddress = false
  })
})

describe('a quote with tenders', () => {
  test('says what store credit and a gift card pay, and what is left for a card', async () => {
    await giveCredit(shop.merchant, 'cleo', 400)
    const { code } = await issueGiftCard(shop.merchant, 600)
    const body = bodyOf({
      customer_ref: 'cleo',
      shipping_address: addressIn('ME'),
      apply_store_credit: true,
      gift_card_code: code,
    })
    const shown = await preview(app, shop, body)
    assert.equal(shown.status, 200, shown.text)
    assert.deepEqual(shown.body.tenders, [
      { tender: 'store_credit', amount_cents: 400, gift_card_last4: null },
      { tender: 'gift_card', amount_cents: 600, gift_card_last4: code.slice(-4) },
    ])
    assert.equal(shown.body.amount_due_cents, 583)
    const placed = await place({ ...body, quote_token: shown.body.quote_token })
    assert.equal(placed.status, 201, placed.text)
    const paid = placed.body.charges.map((each: { tender: string; captured_cents: number }) => [
      each.tender,
      each.captured_cents,
    ])
    assert.deepEqual(Object.fromEntries(paid), { store_credit: 400, gift_card: 600, card: 583 })
  })

  test('is refused for an unknown code, and guesses are limited by shopper', async () => {
    const body = bodyOf({ gift_card_code: 'NOSUCHCODE', ip: '203.0.113.9' })
    const answer = await preview(app, shop, body)
    assert.deepEqual([answer.status, answer.body.error.code], [422, 'gift_card_invalid'])
    const guess = (at: number) => preview(app, shop, { ...body, gift_card_code: `GUESS${at}` })
    assert.deepEqual(countStatuses(await times(30, guess)), { 422: 9, 429: 21 })
    const { code } = await issueGiftCard(shop.merchant, 600)
    const right = await preview(app, shop, { ...body, gift_card_code: code })
    assert.deepEqual([right.status, right.body.error.code], [429, 'rate_limited'])
    const other = { ...body, ip: '203.0.113.10', gift_card_code: code }
    for (let time = 0; time < 15; time++) {
      assert.equal((await preview(app, shop, other)).status, 200, 'a good code is not counted')
    }
  })

  test('is refused if the store does not offer these tenders', async () => {
    const plain = await openShop(app, 'plain', [1_000], {})
    const items = [{ variant_id: plain.variants[1_000], quantity: 1 }]
    for (const [more, feature] of [
      [{ apply_store_credit: true }, 'store_credit'],
      [{ gift_card_code: 'SOMECODE' }, 'gift_cards'],
    ] as const) {
      const answer = await preview(app, plain, { items, ...more })
      assert.equal(answer.body.error?.code ?? answer.status, 'feature_disabled', answer.text)
      assert.equal(answer.body.feature_key, feature)
    }
  })
})
