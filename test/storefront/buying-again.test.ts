import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { comingDates } from '../../storefront/subscriptions/coming-dates.ts'
import { getLocale } from '../../storefront/translations/locale.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { DETAILS, GOOD_CARD, variantOf } from './setup.ts'

const SLUG = 'house-coffee'
const AGAIN = { plan: 'subscribe' }

let shop: TestShop
let merchant: Caller
let coffee: string
let candle: string

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
  coffee = (await variantOf(shop, SLUG)).id
  candle = (await variantOf(shop, 'cedar-candle')).id
})

const newShopper = () => openShopper(shop.url, 'demo.localhost')

const add = (shopper: Shopper, variant: string, more: Record<string, string> = {}) =>
  shopper.follow('/cart/add', { variant, quantity: '1', ...more })

const pay = async (shopper: Shopper, more: Record<string, string> = {}, path = '/checkout') => {
  const key = (await shopper.get(path)).field('key')
  const [action = ''] = path.split('?')
  const { headers } = await shopper.post(action, { ...DETAILS, ...GOOD_CARD, ...more, key })
  return String(headers.location)
}

const part = (text: string, begin: RegExp, end: RegExp) => {
  const from = text.slice(text.search(begin))
  return from.slice(0, from.search(end))
}

const activeOf = async (path: string) => {
  const id = /\/orders\/([0-9a-f-]+)/.exec(path)?.[1]
  const { body } = await merchant.get(`/v1/merchant/orders/${id}`)
  const { items, order } = body
  return {
    repeated: items
      .filter((each: { is_subscription: boolean }) => each.is_subscription)
      .map((each: { variant_id: string; quantity: number }) => [each.variant_id, each.quantity]),
    subtotal: order.subtotal_cents,
  }
}

describe('the choice between once and again and again', () => {
  test('stands on the product page with price, saving, shipping and the next dates', async () => {
    const { text } = await newShopper().get(`/products/${SLUG}`)
    const plans = part(text, /<fieldset class="choices plans"/, /<\/fieldset>/)
    assert.match(plans, /<input type="radio" name="plan" value="once" checked>/)
    assert.match(plans, /Once<\/span><strong>\$14\.00</)
    assert.match(plans, /Every month <small[^>]*>save 10%<\/small><\/span><strong>\$12\.50</)
    assert.match(plans, /Each delivery: \$12\.50 plus \$5\.90 shipping, and tax\./)
    const { formatDay, formatList, dateValue } = getLocale('en-US', 'America/New_York')
    const today = dateValue(new Date().toISOString())
    const dates = comingDates(today, { interval: 'month', interval_count: 1 }, 2).map(formatDay)
    assert.ok(plans.includes(`the next ones are charged on ${formatList(dates)}.`), plans)
    assert.match(plans, /Change, pause or cancel it at any time\./)
  })

  test('changes the price above it, with the saving and the date of the next charge', async () => {
    const { text } = await newShopper().get(`/products/${SLUG}`)
    const price = part(text, /<div id="price"/, /<form id="buy"/)
    const [once = '', again = ''] = price.split('<div class="price-plan">')
    assert.match(once, /<span data-price>\$14\.00</)
    assert.match(again, /<span data-plan-price>\$12\.50<\/span> <small>every month<\/small>/)
    assert.match(again, /<span class="tag">save 10%</)
    const { formatDay, dateValue } = getLocale('en-US', 'America/New_York')
    const today = dateValue(new Date().toISOString())
    const [next = ''] = comingDates(today, { interval: 'month', interval_count: 1 }, 1)
    assert.ok(again.includes(`The next delivery is charged on ${formatDay(next)}.`), again)
    const single = (await newShopper().get('/products/cedar-candle')).text
    assert.doesNotMatch(single, /price-plan/)
  })

  test('is followed at the checkout by the amounts and dates of the next charges, before the payment', async () => {
    const shopper = newShopper()
    await add(shopper, coffee)
    await add(shopper, coffee, { ...AGAIN, quantity: '2' })
    await add(shopper, candle)
    const { text } = await shopper.get('/checkout')
    const again = part(text, /<div id="renewals">/, /<button[^>]* data-pay/)
    const { formatDay, formatList, dateValue } = getLocale('en-US', 'America/New_York')
    const today = dateValue(new Date().toISOString())
    const dates = comingDates(today, { interval: 'month', interval_count: 1 }, 2).map(formatDay)
    // Two at $12.50, shipping of $5.90, and seven per cent tax on the goods.
    const said = `House Coffee (every month), 2\u00a0×: <strong>$32.65</strong> on ${formatList(dates)}`
    assert.ok(again.includes(said), again)
    assert.equal(again.split('<li>').length, 2, 'what is bought once is not charged again')
    const path = await pay(shopper)
    const id = /\/orders\/([0-9a-f-]+)/.exec(path)?.[1]
    const { subscriptions } = (await merchant.get('/v1/merchant/subscriptions?limit=5')).body
    const started = subscriptions.find(
      (each: { origin_order_id: string }) => each.origin_order_id === id,
    )
    const read = await merchant.get(`/v1/merchant/subscriptions/${started.id}`)
    assert.equal(read.body.subscription.next_charges[0].amount_cents, 3_265)
  })

  test('names no charges at a checkout of what is bought once, until all of it is to be sent again', async () => {
    const shopper = newShopper()
    await add(shopper, coffee)
    const form = await shopper.get('/checkout')
    assert.match(form.text, /<div id="renewals"><\/div>/)
    const sent = { ...DETAILS, subscribe: '1', key: form.field('key') }
    const seen = await shopper.post('/checkout/update', sent)
    assert.match(seen.text, /<div id="renewals"><div class="panel renewals"/)
  })

  test('is not offered for products that are sold once, in a gift card or if the store does not offer it', async () => {
    for (const slug of ['cedar-candle', 'gift-card']) {
      assert.doesNotMatch((await newShopper().get(`/products/${slug}`)).text, /name="plan"/)
    }
  })

  test('applies to its own line alone: in the cart, the checkout and the charge', async () => {
    const shopper = newShopper()
    await add(shopper, coffee)
    await add(shopper, coffee, AGAIN)
    const cart = await add(shopper, candle, AGAIN)
    const lines = part(cart.text, /<ul class="lines"/, /<\/ul>/).split('<li class="line">')
    assert.deepEqual(
      lines.slice(1).map((each) => /line-plan">([^<]*)/.exec(each)?.[1]),
      [undefined, 'Subscription, every month', undefined],
    )
    assert.match(lines[1] ?? '', /\$14\.00 each/)
    assert.match(lines[2] ?? '', /\$12\.50 each/)
    const { text } = await shopper.get('/checkout')
    assert.match(text, /You subscribe to House Coffee \(every month\)\. Your card is charged again/)
    assert.match(text, /The payment provider stores the card/)
    const { repeated, subtotal } = await activeOf(await pay(shopper))
    assert.deepEqual(repeated, [[coffee, 1]])
    assert.equal(subtotal, 1_400 + 1_250 + 2_800)
  })

  test('can be changed in the cart, and joins an equal line', async () => {
    const shopper = newShopper()
    await add(shopper, coffee)
    const both = await add(shopper, coffee, AGAIN)
    assert.match(both.text, /name="plan" value="[^"]+">Buy it once instead</)
    const one = await shopper.follow('/cart', { plan: `${coffee}.again` })
    assert.match(one.text, new RegExp(`name="q:${coffee}" value="2"`))
    assert.doesNotMatch(one.text, /line-plan/)
    const again = await shopper.follow('/cart', { plan: coffee })
    assert.match(again.text, new RegExp(`name="q:${coffee}\\.again" value="2"`))
    for (const plan of ['x', '', candle, `${candle}.again`]) {
      assert.match((await shopper.follow('/cart', { plan })).text, /\.again" value="2"/)
    }
  })

  test('goes with "Buy now", and a form that is sent twice makes one order', async () => {
    const shopper = newShopper()
    const path = `/checkout/now?variant=${coffee}&quantity=1&plan=subscribe`
    const page = await shopper.get(path)
    assert.match(page.text, /You subscribe to House Coffee \(every month\)/)
    const form = { ...DETAILS, ...GOOD_CARD, variant: coffee, quantity: '1', ...AGAIN }
    const sent = { ...form, key: page.field('key') }
    const first = await shopper.post('/checkout/now', sent)
    const second = await shopper.post('/checkout/now', sent)
    const idOf = ({ headers }: typeof first) => String(headers.location).split('?')[0]
    assert.equal(idOf(first), idOf(second))
    assert.deepEqual((await activeOf(String(first.headers.location))).repeated, [[coffee, 1]])
  })

  test('is withdrawn if the store no longer offers it, and the cart can still be bought', async () => {
    const shopper = newShopper()
    await add(shopper, coffee, AGAIN)
    const feature_key = 'subscriptions'
    await merchant.post('/v1/merchant/entitlements/disable', { feature_key })
    try {
      let location = await pay(shopper)
      for (let at = 0; !location.startsWith('/orders/') && at < 20; at++)
        location = await pay(shopper)
      assert.deepEqual((await activeOf(location)).repeated, [])
    } finally {
      await merchant.post('/v1/merchant/entitlements/enable', { feature_key })
      await until('it is offered again', async () =>
        /name="plan"/.test((await newShopper().get(`/products/${SLUG}`)).text),
      )
    }
  })
})

describe('the confirmation of an order', () => {
  test('says where mails go, which deliveries follow and when, and links to the subscription', async () => {
    const shopper = newShopper()
    await add(shopper, coffee, AGAIN)
    const path = await pay(shopper, { email: 'ada+mugs@example.com' })
    const { text } = await shopper.get(path)
    const said = part(text, /<div class="panel confirmation"/, /<\/div>/)
    assert.match(said, /Mails about this order go to ada\+mugs@example\.com\./)
    assert.match(said, /You have subscribed to House Coffee \(every month\)\./)
    const { subscriptions } = (await merchant.get('/v1/merchant/subscriptions?limit=1')).body
    const [{ id, next_charge_at }] = subscriptions
    const day = getLocale('en-US', 'America/New_York').formatDay(next_charge_at)
    assert.ok(said.includes(`The next delivery is charged on ${day}.`), said)
    assert.ok(said.includes(`href="/subscriptions/${id}"`))
    assert.match((await shopper.get(`/subscriptions/${id}`)).text, /House Coffee/)
  })

  test('shows the address only to the browser that entered it, and only for its last order', async () => {
    const shopper = newShopper()
    await add(shopper, candle)
    const first = await pay(shopper)
    const [packed = ''] =
      [...shopper.cookies].filter(([name]) => name.includes('confirmed'))[0] ?? []
    assert.ok(packed, 'a cookie has it')
    assert.ok(![...shopper.cookies.values()].some((value) => value.includes('ada@')))
    await add(shopper, candle)
    const second = await pay(shopper)
    assert.doesNotMatch((await shopper.get(first)).text, /data-confirmed/)
    assert.match((await shopper.get(second)).text, /Mails about this order go to ada@example\.com/)
    shopper.cookies.delete(packed)
    assert.doesNotMatch((await shopper.get(second)).text, /ada@example\.com/)
  })
})

describe('the dates of coming deliveries', () => {
  const dates = (first: string, interval: 'day' | 'week' | 'month' | 'year', count = 1) =>
    comingDates(first, { interval, interval_count: count }, 3)

  test("equal those of the platform: on the first day's date, in a shorter month on its last day", () => {
    assert.deepEqual(dates('2027-01-31', 'month'), ['2027-02-28', '2027-03-31', '2027-04-30'])
    assert.deepEqual(dates('2028-02-29', 'year'), ['2029-02-28', '2030-02-28', '2031-02-28'])
    assert.deepEqual(dates('2026-12-24', 'week', 2), ['2027-01-07', '2027-01-21', '2027-02-04'])
    assert.deepEqual(dates('2026-12-31', 'day'), ['2027-01-01', '2027-01-02', '2027-01-03'])
    assert.deepEqual(dates('2026-11-30', 'month', 3), ['2027-02-28', '2027-05-30', '2027-08-30'])
  })

  test('always grow, whatever the first day and the interval', () => {
    const day = fc.date({
      min: new Date('2000-01-01'),
      max: new Date('2100-01-01'),
      noInvalidDate: true,
    })
    const unit = fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const)
    fc.assert(
      fc.property(day, unit, fc.integer({ min: 1, max: 24 }), (at, interval, count) => {
        const first = at.toISOString().slice(0, 10)
        const all = [first, ...dates(first, interval, count)]
        assert.deepEqual(all, [...new Set(all)].toSorted())
      }),
    )
  })
})
