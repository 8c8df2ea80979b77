import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { writeDemo } from '../../src/demo-file.ts'
import { SCOPES } from '../../src/kernel/scopes.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Seen, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
  for (const feature_key of ['gift_cards', 'store_credit']) {
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
  }
})

const withCart = (slug: string, quantity = 1) => setup.withCart(shop, slug, quantity)

let keys = 0
const key = () => {
  keys += 1
  return { 'idempotency-key': `options-${keys}` }
}

async function giftCard(cents: number): Promise<string> {
  const wanted = { initial_balance_cents: cents }
  const { body } = await merchant.post('/v1/merchant/gift-cards', wanted, key())
  return body.code
}

/** The `customer_ref` that the browser orders under. */
function refOf(shopper: Shopper): string {
  const [payload = ''] = (shopper.cookies.get('fd_shopper') ?? '').split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString())[0]
}

/** What the checkout page leaves to pay by card, in cents. */
const dueOf = (seen: Seen) => Number(seen.field('due'))

describe('a gift card', () => {
  test('a gift card with a higher balance than the total pays for the order without a card', async () => {
    const shopper = await withCart('cedar-candle')
    const gift = await giftCard(50_000)
    const shown = await shopper.post('/checkout/update', { ...DETAILS, gift })
    assert.equal(dueOf(shown), 0)
    assert.match(shown.text, /<fieldset id="card" disabled hidden>/)
    assert.match(shown.text, /There is nothing left to pay by card[\s\S]+Place order/)
    const form = { ...DETAILS, gift, due: '0', key: shown.field('key') }
    const placed = await shopper.follow('/checkout', form)
    assert.match(placed.text, /Thank you for your order![\s\S]+Gift card ending in/)
  })

  test('a gift card with a lower balance than the total leaves the rest to a card', async () => {
    const shopper = await withCart('cedar-candle')
    const gift = await giftCard(500)
    const whole = dueOf(await shopper.get('/checkout'))
    const shown = await shopper.post('/checkout/update', { ...DETAILS, gift })
    assert.equal(dueOf(shown), whole - 500)
    assert.match(shown.text, /To pay by card/)
    // A forged page that asks for no card is refused by the platform.
    const short = { ...DETAILS, gift, due: '0', key: shown.field('key') }
    const asked = await shopper.follow('/checkout', short)
    assert.match(asked.text, /Please enter a card to pay with/)
    assert.equal(asked.field('gift'), gift)
    const form = { ...DETAILS, ...GOOD_CARD, gift, key: asked.field('key') }
    const placed = await shopper.follow('/checkout', form)
    assert.match(
      placed.text,
      /Thank you for your order![\s\S]+Gift card ending in [^<]+, Visa ending in 1111/,
    )
  })

  test('a gift card that is unknown is explained, and pays nothing', async () => {
    const shopper = await withCart('cedar-candle')
    const gift = 'AAAA-BBBB-CCCC-DDDD'
    const shown = await shopper.post('/checkout/update', { ...DETAILS, gift })
    assert.match(shown.text, /This gift card is not valid/)
    assert.match(shown.text, /name="gift"[^>]+aria-invalid="true"/)
    const form = { ...DETAILS, ...GOOD_CARD, gift, key: shown.field('key') }
    const refused = await shopper.follow('/checkout', form)
    assert.match(refused.text, /This gift card cannot be used\. Nothing was charged/)
    assert.equal(refused.field('email'), DETAILS.email)
    // Without the code the same form buys.
    const again = await shopper.follow('/checkout', {
      ...form,
      gift: '',
      key: refused.field('key'),
    })
    assert.match(again.text, /Thank you for your order!/)
  })
})

describe('store credit', () => {
  test('is offered to its owner only, and pays before the card', async () => {
    const shopper = await withCart('cedar-candle')
    assert.doesNotMatch((await shopper.get('/checkout')).text, /store credit/)
    const credit = { amount_cents: 700, currency: 'USD', reason: 'sorry' }
    const path = `/v1/merchant/store-credit/${refOf(shopper)}/credit`
    assert.equal((await merchant.post(path, credit, key())).status, 201)
    const offered = await shopper.get('/checkout')
    assert.match(offered.text, /Use my store credit \(\$7\.00\)/)
    const whole = dueOf(offered)
    const shown = await shopper.post('/checkout/update', { ...DETAILS, credit: '1' })
    assert.equal(dueOf(shown), whole - 700)
    const form = { ...DETAILS, ...GOOD_CARD, credit: '1', key: shown.field('key') }
    const placed = await shopper.follow('/checkout', form)
    assert.match(placed.text, /Thank you for your order![\s\S]+Store credit, Visa ending in 1111/)
  })
})

describe('store credit of the demo', () => {
  test('is given to the shopper of the newest order, on a page of development', async () => {
    const { config } = shop.runtime
    const owner = { email: 'owner@demo.example', password: 'secret' }
    const merchant_key = await shop.key('demo', ...SCOPES)
    await writeDemo(config, { tenant_ref: 'demo', owner, merchant_key })
    const start = openShopper(shop.url, 'localhost')
    assert.match((await start.get('/dev/store-credit')).text, /Order something in the demo store/)
    const shopper = await withCart('cedar-candle')
    await setup.placeOrder(shopper)
    const given = await start.post('/dev/store-credit', {})
    assert.match(given.text, /The shopper of order \d+ has got \$15\.00/)
    const { id } = await setup.variantOf(shop, 'cedar-candle')
    await shopper.post('/cart/add', { variant: id, quantity: '1' })
    assert.match((await shopper.get('/checkout')).text, /Use my store credit \(\$15\.00\)/)
    const foreign = { origin: 'http://elsewhere.example' }
    assert.equal((await start.post('/dev/store-credit', {}, foreign)).status, 403)
  })
})

describe('a subscription', () => {
  test('is offered for products that have one, at their subscription price', async () => {
    const { text } = await (await withCart('house-coffee')).get('/products/house-coffee')
    assert.match(text, /Every month <small[^>]*>save 10%<\/small><\/span><strong>\$12\.50</)
    const other = await withCart('cedar-candle')
    assert.doesNotMatch((await other.get('/checkout')).text, /name="subscribe"/)
    const shopper = await withCart('house-coffee')
    const once = await shopper.get('/checkout')
    assert.match(once.text, /Send me House Coffee \(every month\) until I cancel/)
    const shown = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
    assert.match(shown.text, /name="subscribe" value="1" checked/)
    assert.ok(dueOf(shown) < dueOf(once))
    const form = { ...DETAILS, ...GOOD_CARD, subscribe: '1', key: shown.field('key') }
    assert.match((await shopper.follow('/checkout', form)).text, /Thank you for your order!/)
    const customer = await merchant.get(`/v1/merchant/customers/${refOf(shopper)}`)
    assert.equal(customer.body.customer.active_subscriptions, 1)
  })

  test('costs as much as a single purchase while the store has no add-on for its price', async () => {
    const feature_key = 'subscribe_and_save'
    const product = () => openShopper(shop.url, 'demo.localhost').get('/products/house-coffee')
    const dear = /Every month<\/span><strong>\$14\.00</
    await merchant.post('/v1/merchant/entitlements/disable', { feature_key })
    await until('it shows', async () => dear.test((await product()).text))
    const shown = await product()
    assert.doesNotMatch(shown.text, /12\.50/)
    const prices = [...shown.text.matchAll(/"(?:price|lowPrice|highPrice)":"([\d.]+)"/g)]
    assert.ok(prices.length > 0)
    for (const [, price] of prices) assert.equal(price, '14.00', 'as search engines read it')

    const shopper = await withCart('house-coffee')
    assert.doesNotMatch((await shopper.get('/cart')).text, /12\.50/)
    const once = await shopper.get('/checkout')
    const chosen = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
    assert.equal(dueOf(chosen), dueOf(once))
    const form = { ...DETAILS, ...GOOD_CARD, subscribe: '1', key: chosen.field('key') }
    assert.match((await shopper.follow('/checkout', form)).text, /Thank you for your order!/)
    const { orders } = (await merchant.get('/v1/merchant/orders?limit=1')).body
    assert.equal(orders[0].total_cents, dueOf(once), 'what was shown is what was charged')

    await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
    await until('it shows again', async () =>
      /Each delivery: \$12\.50/.test((await product()).text),
    )
  })

  test('is not offered while the store has no add-on for it, and existing subscriptions are still shown', async () => {
    const feature_key = 'subscriptions'
    const shopper = await withCart('house-coffee')
    await merchant.post('/v1/merchant/entitlements/disable', { feature_key })
    await until('it shows', async () => {
      const { text } = await shopper.get('/products/house-coffee')
      return !text.includes('Each delivery:')
    })
    assert.doesNotMatch((await shopper.get('/checkout')).text, /name="subscribe"/)
    assert.match((await shopper.get('/orders')).text, /href="\/subscriptions"/)
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
    await until('it shows again', async () => {
      const { text } = await shopper.get('/products/house-coffee')
      return text.includes('Each delivery:')
    })
  })

  test('needs a card, and says so if a gift card pays for all of it', async () => {
    const shopper = await withCart('house-coffee')
    const gift = await giftCard(50_000)
    const chosen = { ...DETAILS, gift, subscribe: '1' }
    const shown = await shopper.post('/checkout/update', chosen)
    assert.equal(dueOf(shown), 0)
    assert.match(shown.text, /id="tenders"[\s\S]+class="error" role="alert">A subscription needs/)
    assert.doesNotMatch(shown.text, /There is nothing left to pay by card/)
    const form = { ...chosen, due: '0', key: shown.field('key') }
    const refused = await shopper.follow('/checkout', form)
    assert.match(refused.text, /A subscription needs a card[^<]+/)
    assert.match(refused.text, /name="subscribe"[^>]+aria-invalid="true"/)
    const once = { ...DETAILS, gift, due: '0', key: refused.field('key') }
    const again = await shopper.post('/checkout/update', once)
    const placed = await shopper.follow('/checkout', { ...once, key: again.field('key') })
    assert.match(placed.text, /Thank you for your order!/)
  })

  test('a subscription that the store no longer offers is explained, and not selected again', async () => {
    const shopper = await withCart('house-coffee')
    const shown = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
    const feature_key = 'subscriptions'
    await merchant.post('/v1/merchant/entitlements/disable', { feature_key })
    const form = { ...DETAILS, ...GOOD_CARD, subscribe: '1', key: shown.field('key') }
    const refused = await shopper.follow('/checkout', form)
    assert.match(refused.text, /no longer offers this option\. Nothing was charged/)
    assert.doesNotMatch(refused.text, /name="subscribe" value="1" checked/)
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
  })
})

describe('a statement of the store', () => {
  test('must be accepted in its current version before the store sells anything', async () => {
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key: 'funnel_gate' })
    const { body } = await merchant.get('/v1/my/site')
    const { manifest, version } = body.active
    const funnelGate = { enabled: true, statementVersion: 'v2', statement: 'I am of age.' }
    const behavior = { ...manifest.behavior, funnelGate }
    await merchant.put('/v1/my/store/manifest', { manifest: { ...manifest, behavior } })
    const shopper = await withCart('cedar-candle')
    let shown = await shopper.get('/checkout')
    await until('it is shown', async () => {
      shown = await shopper.get('/checkout')
      return shown.text.includes('I am of age.')
    })
    const attested = shown.field('attested')
    const form = { ...DETAILS, ...GOOD_CARD, key: shown.field('key') }
    const bare = await shopper.follow('/checkout', form)
    assert.match(bare.text, /Please confirm this to continue/)
    const old = { ...form, attested: attested.replace('v2', 'v1'), key: bare.field('key') }
    const stale = await shopper.follow('/checkout', old)
    assert.match(stale.text, /Please confirm the statement of the store/)
    const good = { ...form, attested, key: stale.field('key') }
    // Longer than the platform accepts. That must not be explained as an expired quote.
    const long = { ...good, attested: `${attested}${'v'.repeat(120)}` }
    const wrong = await shopper.follow('/checkout', long)
    assert.match(wrong.text, /Something went wrong on our side/)
    assert.match((await shopper.follow('/checkout', good)).text, /Thank you for your order!/)
    await merchant.post('/v1/my/site/publish', { version })
  })
})
