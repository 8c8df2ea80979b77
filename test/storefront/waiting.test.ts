import assert from 'node:assert/strict'
import { before, describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { reconcile } from '../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../src/open-checkout.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { DUE_NOW } from '../harness/operations.ts'
import type { Seen, Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { movableClock } from '../modules/checkout/setup.ts'
import * as setup from './setup.ts'
import { card, DETAILS, GOOD } from './setup.ts'

/** Nobody knows at first whether the bank has taken the money: it has, or it has not. */
const TAKEN = card('4000 0000 0000 5126')
const NOT_TAKEN = card('4000 0000 0000 5134')

const clock = movableClock()
let shop: TestShop
let merchant: Caller
let superuser: pg.Client

before(async (t) => {
  const context = t as TestContext
  const env = { CHECKOUT_VELOCITY_PER_MINUTE: '1000000' }
  shop = await openTestShop(context, ['demo'], { clock, env })
  superuser = await openSuperuser(context, shop.database)
  merchant = await shop.merchant('demo')
})

const withCart = (slug: string, quantity = 1) => setup.withCart(shop, slug, quantity)

async function countOrders(): Promise<number> {
  return (await merchant.get('/v1/merchant/orders?limit=1')).body.total
}

async function add(shopper: Shopper, slug: string) {
  const { id } = await setup.variantOf(shop, slug)
  await shopper.post('/cart/add', { variant: id, quantity: '1' })
  return id
}

async function change(shopper: Shopper, slug: string, quantity: number) {
  const { id } = await setup.variantOf(shop, slug)
  await shopper.post('/cart', { [`q:${id}`]: String(quantity) })
}

const pathOf = ({ headers }: Seen) => String(headers.location).split('?')[0]

/** The path of an order that waits for its bank. */
async function payInSilence(shopper: Shopper, silent = TAKEN): Promise<string> {
  const key = (await shopper.get('/checkout')).field('key')
  const sent = await shopper.post('/checkout', { ...DETAILS, ...silent, key })
  const path = pathOf(sent) ?? ''
  assert.match(path, /^\/orders\/[0-9a-f-]{36}$/)
  assert.match((await shopper.get(path)).text, /Please do not pay again/)
  return path
}

async function payNow(shopper: Shopper): Promise<Seen> {
  const key = (await shopper.get('/checkout')).field('key')
  return shopper.follow('/checkout', { ...DETAILS, ...GOOD, key })
}

/** The bank is asked, and says what it knows. */
async function hearFromBank() {
  clock.advance(10_000)
  await superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
  const deps = openCheckout(shop.runtime)
  await reconcile({ ...deps, database: shop.runtime.workerDatabase })
}

/** Every way that would take a payment leads to the order, and takes none. */
async function isLedTo(path: string, shopper: Shopper) {
  const cart = await shopper.get('/cart')
  assert.match(cart.text, /Please do not pay again/)
  assert.ok(cart.text.includes(`href="${path}"`))
  assert.doesNotMatch(cart.text, /href="\/checkout"/)
  assert.equal(pathOf(await shopper.get('/checkout')), path)
  const form = { ...DETAILS, ...GOOD, key: 'shop-AAAAAAAAAAAAAAAA-0|x' }
  assert.equal(pathOf(await shopper.post('/checkout/update', form)), path)
  assert.equal(pathOf(await shopper.post('/checkout', form)), path)
}

describe('while the bank has not spoken', () => {
  test('nothing else is paid, whatever is done to the cart', async () => {
    const shopper = await withCart('reading-lamp')
    const path = await payInSilence(shopper)
    const orders = await countOrders()
    await isLedTo(path, shopper)
    await add(shopper, 'cedar-candle')
    await isLedTo(path, shopper)
    await change(shopper, 'reading-lamp', 2)
    await isLedTo(path, shopper)
    await shopper.post('/cart', { coupon: 'WELCOME10' })
    await isLedTo(path, shopper)
    await change(shopper, 'reading-lamp', 0)
    await isLedTo(path, shopper)
    await change(shopper, 'cedar-candle', 0)
    await add(shopper, 'garden-tea')
    await isLedTo(path, shopper)
    assert.equal(await countOrders(), orders)
  })

  test('a page that was left open, or gone back to, leads to the order', async () => {
    const shopper = await withCart('reading-lamp')
    const tab = await shopper.get('/checkout')
    await add(shopper, 'cedar-candle')
    const other = await shopper.get('/checkout')
    await change(shopper, 'cedar-candle', 0)
    const path = await payInSilence(shopper)
    const orders = await countOrders()
    await add(shopper, 'garden-tea')
    for (const page of [tab, other]) {
      const form = { ...DETAILS, ...GOOD, key: page.field('key') }
      assert.equal(pathOf(await shopper.post('/checkout', form)), path)
    }
    await hearFromBank()
    for (const page of [tab, other]) {
      const form = { ...DETAILS, ...GOOD, key: page.field('key') }
      assert.equal(pathOf(await shopper.post('/checkout', form)), path)
    }
    assert.equal(await countOrders(), orders)
  })

  test('a browser that never heard of the order is led to it by its cart', async () => {
    const shopper = await withCart('reading-lamp')
    await shopper.get('/checkout')
    const cookies = new Map(shopper.cookies)
    const path = await payInSilence(shopper)
    const orders = await countOrders()
    // Somebody who went back before the answer came has none of its cookies.
    shopper.cookies.clear()
    for (const [name, value] of cookies) shopper.cookies.set(name, value)
    await add(shopper, 'cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    assert.equal(pathOf(await shopper.post('/checkout', { ...DETAILS, ...GOOD, key })), path)
    await isLedTo(path, shopper)
    assert.equal(await countOrders(), orders)
  })

  test('a second tab that has changed the cart meanwhile comes to the same order', async (t) => {
    const shopper = await withCart('reading-lamp')
    const form = { ...DETAILS, key: (await shopper.get('/checkout')).field('key') }
    const orders = await countOrders()
    const database = await shop.database.openAdmin()
    t.after(() => database.end())
    await database.query('begin; lock table orders in share row exclusive mode')
    const first = shopper.post('/checkout', { ...form, ...TAKEN })
    await until('the first waits for the lock', async () => {
      const { rowCount } = await database.query(
        `select from pg_locks where relation = 'orders'::regclass and not granted`,
      )
      return rowCount === 1
    })
    await add(shopper, 'cedar-candle')
    const second = shopper.post('/checkout', { ...form, ...GOOD })
    await delay(300)
    await database.query('rollback')
    const [one, two] = [pathOf(await first), pathOf(await second)]
    assert.match(String(one), /^\/orders\//)
    assert.equal(one, two)
    assert.equal(await countOrders(), orders + 1)
  })
})

describe('once the bank has spoken', () => {
  test('what was bought leaves the cart, and what was added stays to be bought', async () => {
    const shopper = await withCart('reading-lamp')
    const path = await payInSilence(shopper)
    await add(shopper, 'cedar-candle')
    await change(shopper, 'reading-lamp', 3)
    await hearFromBank()
    const { text } = await shopper.get('/cart')
    assert.doesNotMatch(text, /do not pay again/)
    assert.match(
      text,
      /Reading Lamp[\s\S]+value="2" min="0"[\s\S]+Cedar Candle[\s\S]+value="1" min/,
    )
    const placed = await payNow(shopper)
    assert.match(placed.text, /Thank you!/)
    assert.match((await shopper.get(path)).text, /data-status="placed"/)
  })

  test('the page of a placed order empties the cart that nothing was added to', async () => {
    const shopper = await withCart('reading-lamp')
    const path = await payInSilence(shopper)
    await hearFromBank()
    const seen = await shopper.get(path)
    assert.match(seen.text, /data-status="placed"[\s\S]*/)
    assert.match(seen.text, /Cart, 0 items/)
    assert.match((await shopper.get('/cart')).text, /It is empty so far/)
  })

  test('a payment that failed leaves the cart, and another card may pay for it', async () => {
    for (const looksAtOrder of [true, false]) {
      const shopper = await withCart('reading-lamp')
      const path = await payInSilence(shopper, NOT_TAKEN)
      await isLedTo(path, shopper)
      await hearFromBank()
      if (looksAtOrder) assert.match((await shopper.get(path)).text, /data-status="payment_failed"/)
      const orders = await countOrders()
      assert.match((await payNow(shopper)).text, /Thank you!/)
      assert.equal(await countOrders(), orders + 1)
    }
  })

  test('whoever waits for nothing is not asked about', async (t) => {
    const [regular, waiting] = [await withCart('reading-lamp'), await withCart('reading-lamp')]
    assert.match((await payNow(regular)).text, /Thank you!/)
    await add(regular, 'cedar-candle')
    await payInSilence(waiting)
    await superuser.query('alter table orders rename to orders_away')
    t.after(() => superuser.query('alter table orders_away rename to orders'))
    assert.equal((await regular.get('/cart')).status, 200)
    assert.equal((await regular.get('/checkout')).status, 200)
    // Nobody can say how its order stands, so nothing may be paid.
    assert.equal((await waiting.get('/checkout')).status, 503)
    assert.equal((await waiting.post('/checkout', { ...DETAILS, ...GOOD })).status, 503)
  })
})
