import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import { readAmount } from '../../storefront/order-refunds.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import type { Seen, Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { DETAILS, GOOD } from './setup.ts'

let shop: TestShop
let merchant: Caller

before(async (t) => {
  shop = await openTestShop(t as TestContext)
  merchant = await shop.merchant('demo')
  for (const feature_key of ['gift_cards', 'store_credit']) {
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
  }
})

const withCart = (slug: string, quantity = 1) => setup.withCart(shop, slug, quantity)

let keys = 0
const key = () => {
  keys += 1
  return { 'idempotency-key': `tenders-${keys}` }
}

async function giftCard(cents: number): Promise<string> {
  const wanted = { initial_balance_cents: cents }
  const { body } = await merchant.post('/v1/merchant/gift-cards', wanted, key())
  return body.code
}

/** The name that the browser orders under. */
function refOf(shopper: Shopper): string {
  const [payload = ''] = (shopper.cookies.get('fd_shopper') ?? '').split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString())[0]
}

const due = (seen: Seen) => Number(seen.field('due'))

describe('a gift card', () => {
  test('that is worth more than the order leaves no card to be asked for', async () => {
    const shopper = await withCart('cedar-candle')
    const gift = await giftCard(50_000)
    const shown = await shopper.post('/checkout/update', { ...DETAILS, gift })
    assert.equal(due(shown), 0)
    assert.match(shown.text, /<fieldset id="card" disabled hidden>/)
    assert.match(shown.text, /Nothing is left to pay by card[\s\S]+Place the order/)
    const form = { ...DETAILS, gift, due: '0', key: shown.field('key') }
    const placed = await shopper.follow('/checkout', form)
    assert.match(placed.text, /Thank you![\s\S]+Gift card ending in/)
  })

  test('that is worth less leaves the rest to a card', async () => {
    const shopper = await withCart('cedar-candle')
    const gift = await giftCard(500)
    const whole = due(await shopper.get('/checkout'))
    const shown = await shopper.post('/checkout/update', { ...DETAILS, gift })
    assert.equal(due(shown), whole - 500)
    assert.match(shown.text, /To pay by card/)
    // A page that was forged to ask for no card is answered by the platform.
    const short = { ...DETAILS, gift, due: '0', key: shown.field('key') }
    const asked = await shopper.follow('/checkout', short)
    assert.match(asked.text, /Please enter a card to pay with/)
    assert.equal(asked.field('gift'), gift)
    const form = { ...DETAILS, ...GOOD, gift, key: asked.field('key') }
    const placed = await shopper.follow('/checkout', form)
    assert.match(placed.text, /Thank you![\s\S]+Gift card ending in [^<]+, Visa ending in 1111/)
  })

  test('that nobody knows is said to be so, and buys nothing', async () => {
    const shopper = await withCart('cedar-candle')
    const gift = 'AAAA-BBBB-CCCC-DDDD'
    const shown = await shopper.post('/checkout/update', { ...DETAILS, gift })
    assert.match(shown.text, /We do not know this gift card/)
    assert.match(shown.text, /name="gift"[^>]+aria-invalid="true"/)
    const form = { ...DETAILS, ...GOOD, gift, key: shown.field('key') }
    const refused = await shopper.follow('/checkout', form)
    assert.match(refused.text, /This gift card cannot be used\. Nothing was charged/)
    assert.equal(refused.field('email'), DETAILS.email)
    // Without it the same form buys.
    const again = await shopper.follow('/checkout', {
      ...form,
      gift: '',
      key: refused.field('key'),
    })
    assert.match(again.text, /Thank you!/)
  })
})

describe('store credit', () => {
  test('is offered to whom it belongs, and pays first', async () => {
    const shopper = await withCart('cedar-candle')
    assert.doesNotMatch((await shopper.get('/checkout')).text, /store credit/)
    const credit = { amount_cents: 700, currency: 'USD', reason: 'sorry' }
    const path = `/v1/merchant/store-credit/${refOf(shopper)}/credit`
    assert.equal((await merchant.post(path, credit, key())).status, 201)
    const offered = await shopper.get('/checkout')
    assert.match(offered.text, /Use my store credit \(\$7\.00\)/)
    const whole = due(offered)
    const shown = await shopper.post('/checkout/update', { ...DETAILS, credit: '1' })
    assert.equal(due(shown), whole - 700)
    const form = { ...DETAILS, ...GOOD, credit: '1', key: shown.field('key') }
    const placed = await shopper.follow('/checkout', form)
    assert.match(placed.text, /Thank you![\s\S]+Store credit, Visa ending in 1111/)
  })
})

describe('a subscription', () => {
  test('is offered for what can be subscribed to, at its own price', async () => {
    assert.match(
      (await (await withCart('house-coffee')).get('/products/house-coffee')).text,
      /Or subscribe at the checkout: \$12\.50 every month/,
    )
    const other = await withCart('cedar-candle')
    assert.doesNotMatch((await other.get('/checkout')).text, /name="subscribe"/)
    const shopper = await withCart('house-coffee')
    const once = await shopper.get('/checkout')
    assert.match(once.text, /Send me House Coffee every month, until I say stop/)
    const shown = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
    assert.match(shown.text, /name="subscribe" value="1" checked/)
    assert.ok(due(shown) < due(once))
    const form = { ...DETAILS, ...GOOD, subscribe: '1', key: shown.field('key') }
    assert.match((await shopper.follow('/checkout', form)).text, /Thank you!/)
    const customer = await merchant.get(`/v1/merchant/customers/${refOf(shopper)}`)
    assert.equal(customer.body.customer.active_subscriptions, 1)
  })

  test('that the store has taken off its list is explained, and left out the next time', async () => {
    const shopper = await withCart('house-coffee')
    const shown = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
    const feature_key = 'subscriptions'
    await merchant.post('/v1/merchant/entitlements/disable', { feature_key })
    const form = { ...DETAILS, ...GOOD, subscribe: '1', key: shown.field('key') }
    const refused = await shopper.follow('/checkout', form)
    assert.match(refused.text, /does not offer this at the moment\. Nothing was charged/)
    assert.doesNotMatch(refused.text, /name="subscribe" value="1" checked/)
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
  })
})

describe('an order', () => {
  async function placed(shopper: Shopper): Promise<string> {
    const shown = await shopper.get('/checkout')
    const form = { ...DETAILS, ...GOOD, key: shown.field('key') }
    const { headers } = await shopper.post('/checkout', form)
    return String(headers.location).split('?')[0] ?? ''
  }

  test('gives back what its shopper asks for, once, and no more than was paid', async () => {
    const shopper = await withCart('cedar-candle')
    const path = await placed(shopper)
    const page = await shopper.get(path)
    assert.match(page.text, /Ask for money back/)
    const deed = page.field('deed')
    const form = { amount: '2,50', reason: 'A dent', deed }
    assert.match((await shopper.follow(`${path}/refund`, form)).text, /on its way back to you/)
    const again = await shopper.follow(`${path}/refund`, form)
    assert.equal(again.text.match(/\$2\.50 given back/g)?.length, 1)
    assert.match(again.text, /Partly refunded/)
    const much = { amount: '900', reason: 'All of it', deed: again.field('deed') }
    const refused = await shopper.follow(`${path}/refund`, much)
    assert.match(refused.text, /more than is left to give back/)
    assert.match(refused.text, /value="All of it"/)
    for (const amount of ['0', '-1', '1e3', '1.005', '']) {
      const wrong = { amount, deed: again.field('deed') }
      assert.match((await shopper.follow(`${path}/refund`, wrong)).text, /check the amount/, amount)
    }
  })

  test('tells who goes back and changes the amount what the form has done, and does no more', async () => {
    const shopper = await withCart('cedar-candle')
    const path = await placed(shopper)
    const form = { amount: '2.50', deed: (await shopper.get(path)).field('deed') }
    const made = await shopper.follow(`${path}/refund`, form)
    assert.match(made.text, /on its way back to you/)
    const again = await shopper.follow(`${path}/refund`, { ...form, amount: '3' })
    assert.match(again.text, /Your refund of \$2\.50 was made before/)
    assert.match(again.text, /name="amount" inputmode="decimal" value="3"/)
    assert.doesNotMatch(again.text, /\$3\.00 given back/)
    // Whoever wants that as well has but to send it from here.
    const more = { amount: '3', deed: again.field('deed') }
    assert.match((await shopper.follow(`${path}/refund`, more)).text, /\$3\.00 given back/)
    const much = { amount: '900', deed: (await shopper.get(path)).field('deed') }
    assert.match((await shopper.follow(`${path}/refund`, much)).text, /more than is left/)
    const less = await shopper.follow(`${path}/refund`, { ...much, amount: '1' })
    assert.match(less.text, /refused before, and nothing was done/)
    assert.doesNotMatch(less.text, /\$1\.00 given back/)
  })

  test('of somebody else gives nothing back', async () => {
    const path = await placed(await withCart('cedar-candle'))
    const stranger = await withCart('cedar-candle')
    await stranger.get('/checkout')
    const form = { amount: '1', deed: 'AAAAAAAAAAAAAAAA' }
    assert.equal((await stranger.post(`${path}/refund`, form)).status, 404)
  })

  test('gives nothing back where the store does not let shoppers ask', async () => {
    const { body } = await merchant.get('/v1/my/site')
    const { manifest, version } = body.active
    const behavior = { ...manifest.behavior, refunds: { selfServe: false } }
    const shopper = await withCart('cedar-candle')
    const path = await placed(shopper)
    await merchant.put('/v1/my/store/manifest', { manifest: { ...manifest, behavior } })
    await until('the form is gone', async () => !(await shopper.get(path)).text.includes('/refund'))
    const form = { amount: '1', deed: 'AAAAAAAAAAAAAAAA' }
    const refused = await shopper.follow(`${path}/refund`, form)
    assert.match(refused.text, /There is nothing left to give back/)
    assert.doesNotMatch(refused.text, /Partly refunded/)
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

describe('a statement that the store asks for', () => {
  test('must be accepted before anything is sold, in its current wording', async () => {
    await merchant.post('/v1/merchant/entitlements/enable', { feature_key: 'funnel_gate' })
    const { body } = await merchant.get('/v1/my/site')
    const { manifest, version } = body.active
    const funnelGate = { enabled: true, statementVersion: 'v2', statement: 'I am of age.' }
    const behavior = { ...manifest.behavior, funnelGate }
    await merchant.put('/v1/my/store/manifest', { manifest: { ...manifest, behavior } })
    const shopper = await withCart('cedar-candle')
    let shown = await shopper.get('/checkout')
    await until('it is asked for', async () => {
      shown = await shopper.get('/checkout')
      return shown.text.includes('I am of age.')
    })
    const attested = shown.field('attested')
    const form = { ...DETAILS, ...GOOD, key: shown.field('key') }
    const bare = await shopper.follow('/checkout', form)
    assert.match(bare.text, /Please confirm this to go on/)
    const old = { ...form, attested: attested.replace('v2', 'v1'), key: bare.field('key') }
    const stale = await shopper.follow('/checkout', old)
    assert.match(stale.text, /Please confirm what the store asks for/)
    const good = { ...form, attested, key: stale.field('key') }
    // Longer than any that the platform takes: nobody was away for too long.
    const long = { ...good, attested: `${attested}${'v'.repeat(120)}` }
    const wrong = await shopper.follow('/checkout', long)
    assert.match(wrong.text, /Something went wrong on our side/)
    assert.match((await shopper.follow('/checkout', good)).text, /Thank you!/)
    await merchant.post('/v1/my/site/publish', { version })
  })
})
