import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Caller } from '../harness/app.ts'
import { showsCard } from '../harness/card-digits.ts'
import { until } from '../harness/eventually.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { card, DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop
let merchant: Caller

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
})

const variantOf = (slug: string) => setup.variantOf(shop, slug)
const withCart = (slug: string, quantity = 1) => setup.withCart(shop, slug, quantity)

const countOrders = () => setup.countOrders(merchant)

describe('a cart', () => {
  test('lives in a signed cookie, and is empty once the cookie was changed', async () => {
    const shopper = await withCart('cedar-candle', 3)
    assert.match((await shopper.get('/cart')).text, /value="3" min="0"/)
    const signed = shopper.cookies.get('fd_cart') ?? ''
    const other = signed[10] === 'A' ? 'B' : 'A'
    shopper.cookies.set('fd_cart', signed.slice(0, 10) + other + signed.slice(11))
    assert.match((await shopper.get('/cart')).text, /Your cart is empty/)
  })

  test('a cart of one store is empty in another', async () => {
    await (await shop.merchant('other')).put('/v1/my/store/manifest', { manifest: {} })
    await shop.operator.put('/v1/stores/other/status', { status: 'live' })
    const shopper = await withCart('cedar-candle')
    const stranger = openShopper(shop.url, 'other.localhost')
    for (const [name, value] of shopper.cookies) stranger.cookies.set(name, value)
    assert.match((await stranger.get('/cart')).text, /Your cart is empty/)
  })

  test('accepts no form that another site sends', async () => {
    const shopper = await withCart('cedar-candle')
    const form = { variant: (await variantOf('cedar-candle')).id }
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      assert.equal((await shopper.post('/cart/add', form, headers)).status, 403)
    }
    // A request without an origin is not from a browser, and has no cookies but its own.
    const added = await shopper.post('/cart/add', form)
    assert.equal(added.status, 303)
    assert.match(String(added.headers['set-cookie']), /HttpOnly; SameSite=Lax/)
  })

  test('says what is out of stock, and cannot be checked out until then', async () => {
    const { id } = await variantOf('wool-blanket')
    const path = `/v1/merchant/inventory/${id}`
    assert.equal((await merchant.put(path, { track_inventory: true })).status, 200)
    const counted = { set_on_hand: 1, reason: 'counted' }
    assert.equal((await merchant.post(`${path}/adjust`, counted)).status, 200)
    const shopper = await withCart('wool-blanket', 2)
    const { text } = await shopper.get('/cart')
    assert.match(text, /Not enough in stock/)
    assert.doesNotMatch(text, /Check out/)
    const sent = await shopper.post('/cart', { [`q:${id}`]: '3', checkout: '1' })
    assert.equal(sent.headers.location, '/checkout')
    assert.equal((await shopper.get('/checkout')).headers.location, '/cart')
  })

  test('a cart with two currencies has no price, says so, and lets the shopper remove one of them', async () => {
    const made = await merchant.post('/v1/merchant/catalog/products', { slug: 'yen', name: 'Yen' })
    const path = `/v1/merchant/catalog/products/${made.body.product.id}`
    const { body } = await merchant.post(`${path}/variants`, {
      sku: 'YEN',
      price_cents: 1_500,
      currency: 'JPY',
    })
    const shopper = await withCart('cedar-candle')
    await shopper.post('/cart/add', { variant: body.variant.id })
    const mixed = await shopper.get('/cart')
    assert.match(mixed.text, /priced in different currencies[\s\S]+\$28\.00[\s\S]+¥1,500/)
    assert.doesNotMatch(mixed.text, /Check out/)
    assert.equal((await shopper.get('/checkout')).headers.location, '/cart')
    const rest = await shopper.follow('/cart', { remove: (await variantOf('cedar-candle')).id })
    assert.match(rest.text, /<dt>Subtotal<\/dt><dd>¥1,500/)
  })

  test('drops items that are no longer sold, and says so', async () => {
    const { body } = await merchant.post('/v1/merchant/catalog/products', {
      slug: 'gone',
      name: 'Gone',
    })
    const path = `/v1/merchant/catalog/products/${body.product.id}`
    await merchant.post(`${path}/variants`, { sku: 'GONE', price_cents: 100 })
    const shopper = await withCart('gone')
    assert.equal((await merchant.post(`${path}/archive`, {})).status, 200)
    let text = ''
    await until('it is removed', async () => {
      text = (await shopper.get('/cart')).text
      return text.includes('Your cart is empty')
    })
    assert.match(text, /no longer available, so we removed them/)
  })
})

describe('a checkout', () => {
  test('a checkout that is sent three times at once places one order', async () => {
    const shopper = await withCart('cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const before = await countOrders()
    const form = { ...DETAILS, ...GOOD_CARD, key }
    const answers = await Promise.all([1, 2, 3].map(() => shopper.post('/checkout', form)))
    const locations = new Set(answers.map(({ headers }) => headers.location))
    assert.equal(locations.size, 1, [...locations].join())
    assert.equal(await countOrders(), before + 1)
    // Once more, from a page that is still open.
    const again = await shopper.post('/checkout', form)
    assert.equal(`${again.headers.location}?new=1`, [...locations][0])
    assert.equal(await countOrders(), before + 1)
  })

  test('a checkout with other details from another tab finds the order that was placed', async () => {
    const shopper = await withCart('cedar-candle')
    const first = (await shopper.get('/checkout')).field('key')
    const second = (await shopper.get('/checkout')).field('key')
    const cookies = new Map(shopper.cookies)
    const placed = await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, key: first })
    shopper.cookies.clear()
    for (const [name, value] of cookies) shopper.cookies.set(name, value)
    const other = { ...DETAILS, name: 'Grace', ...GOOD_CARD, key: second }
    const { headers } = await shopper.post('/checkout', other)
    assert.equal(`${headers.location}?new=1`, placed.headers.location)
  })

  test('a checkout with other details from another tab waits for the order that is being placed', async (t) => {
    const shopper = await withCart('cedar-candle')
    const tabs = [await shopper.get('/checkout'), await shopper.get('/checkout')]
    const database = await shop.database.openAdmin()
    t.after(() => database.end())
    await database.query('begin; lock table orders in share row exclusive mode')
    const [first, second] = tabs.map((tab, n) =>
      shopper.post('/checkout', {
        ...DETAILS,
        name: `Tab ${n}`,
        ...GOOD_CARD,
        key: tab.field('key'),
      }),
    )
    await delay(400)
    await database.query('rollback')
    const locations = [(await first)?.headers.location, (await second)?.headers.location]
    const orders = locations.map((each) => /^\/orders\/([0-9a-f-]{36})/.exec(String(each))?.[1])
    assert.equal(orders[0], orders[1])
    assert.notEqual(orders[0], undefined)
  })

  test('a checkout whose price has changed shows the new one before it takes a payment', async () => {
    const shopper = await withCart('garden-tea')
    const key = (await shopper.get('/checkout')).field('key')
    const { id, product_id } = await variantOf('garden-tea')
    const path = `/v1/merchant/catalog/products/${product_id}/variants/${id}`
    assert.equal((await merchant.patch(path, { price_cents: 1_700 })).status, 200)
    const seen = await shopper.follow('/checkout', { ...DETAILS, ...GOOD_CARD, key })
    assert.match(seen.text, /A price has changed/)
    assert.match(seen.text, /value="ada@example.com"/)
    const again = await shopper.follow('/checkout', {
      ...DETAILS,
      ...GOOD_CARD,
      key: seen.field('key'),
    })
    assert.match(again.text, /Thank you for your order!/)
  })

  test('a checkout from a page that showed other items buys nothing before the shopper has seen them', async () => {
    const made = await merchant.post('/v1/merchant/catalog/products', {
      slug: 'sizes',
      name: 'Hat',
    })
    const path = `/v1/merchant/catalog/products/${made.body.product.id}/variants`
    const [small, large] = await Promise.all(
      ['S', 'L'].map(async (label) => {
        const wanted = { sku: `HAT-${label}`, label, price_cents: 1_000 }
        return (await merchant.post(path, wanted)).body.variant.id
      }),
    )
    const shopper = openShopper(shop.url, 'demo.localhost')
    await shopper.post('/cart/add', { variant: small })
    const key = (await shopper.get('/checkout')).field('key')
    await shopper.post('/cart/add', { variant: large })
    await shopper.post('/cart', { remove: small })
    const orders = await countOrders()
    const seen = await shopper.follow('/checkout', { ...DETAILS, ...GOOD_CARD, key })
    assert.match(seen.text, /Your cart has changed[\s\S]+value="ada@example.com"/)
    assert.equal(await countOrders(), orders)
    const placed = await shopper.follow('/checkout', {
      ...DETAILS,
      ...GOOD_CARD,
      key: seen.field('key'),
    })
    assert.match(placed.text, /Thank you for your order![\s\S]+class="line-label">L</)
  })

  test('explains an expired quote, an unknown code, a wrong card and missing fields', async () => {
    const shopper = await withCart('cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const form = { ...DETAILS, ...GOOD_CARD, key }
    const old = await shopper.follow('/checkout', { ...form, key: key.replace(/\|[^|]*/, '|x') })
    assert.match(old.text, /This page was open for a while/)
    const coupon = await shopper.follow('/checkout', { ...form, coupon: 'NOPE' })
    assert.match(coupon.text, /This code is not valid/)
    const wrong = await shopper.follow('/checkout', { ...form, ...card('4111 1111 1111 1112') })
    assert.match(wrong.text, /Please check the card number/)
    assert.ok(!showsCard(wrong.text, '4111 1111 1111 1112', GOOD_CARD.card_cvv))
    const bare = await shopper.follow('/checkout', { ...form, email: 'nonsense', city: '' })
    assert.match(bare.text, /Please enter a valid email address[\s\S]+Please fill in this field/)
  })

  test('accepts an address without state and postal code, and the order shows no gap for them', async () => {
    const shopper = await withCart('cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const bare = { ...DETAILS, state: 'X', postal_code: 'X', city: 'Doha', country: 'QA' }
    const { text } = await shopper.follow('/checkout', { ...bare, ...GOOD_CARD, key })
    assert.match(text, /Thank you for your order!/)
    // The region is optional there; a postal code does not exist.
    assert.match(
      text,
      />1 Square<\/bdi><\/span><span[^>]*><bdi>Doha<\/bdi><\/span><span[^>]*><bdi>X<\/bdi><\/span><span[^>]*><bdi>Qatar</,
    )
  })

  test('a checkout whose payment is not confirmed shows the order, also if it is sent again', async () => {
    const shopper = await withCart('cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const form = { ...DETAILS, ...card('4000 0000 0000 5134'), key }
    const seen = await shopper.follow('/checkout', form)
    assert.match(seen.text, /Please do not pay again/)
    const again = await shopper.follow('/checkout', form)
    assert.match(again.text, /Please do not pay again/)
  })

  test('a checkout that meets an outage keeps what was entered, except the card', async (t) => {
    const shopper = await withCart('cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const database = await shop.database.openAdmin()
    t.after(() => database.end())
    await database.query(`alter table orders rename to orders_away`)
    const seen = await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, key })
    assert.deepEqual([seen.status, seen.headers['retry-after']], [503, '2'])
    assert.equal(seen.field('email'), DETAILS.email)
    assert.ok(!showsCard(seen.text, GOOD_CARD.card_number, GOOD_CARD.card_cvv))
    await database.query(`alter table orders_away rename to orders`)
    const again = await shopper.post('/checkout/update', { email: seen.field('email') })
    assert.match(again.text, /value="ada@example.com"/)
  })

  test('places an order that no other browser can see or cancel', async () => {
    const shopper = await withCart('cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const { headers } = await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, key })
    const path = String(headers.location)
    const own = await shopper.get(path)
    assert.deepEqual([own.status, own.headers['cache-control']], [200, 'no-store'])
    const stranger = await withCart('cedar-candle')
    await stranger.get('/checkout')
    assert.equal((await stranger.get(path)).status, 404)
    const cancelled = await stranger.post(`${path.split('?')[0]}/cancel`, { action_key: 'x' })
    assert.equal(cancelled.status, 404)
  })
})
