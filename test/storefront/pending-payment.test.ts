import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { reconcile } from '../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../src/modules/checkout/open.ts'
import type { Caller } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { DUE_NOW } from '../harness/operations.ts'
import { suiteScope } from '../harness/scope.ts'
import type { Seen, Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { movableClock } from '../modules/checkout/setup.ts'
import * as setup from './setup.ts'
import { card, DETAILS, GOOD_CARD } from './setup.ts'

/**
 * The gateway does not answer at first. A later lookup finds the payment approved, or not at all.
 */
const FOUND_APPROVED = card('4000 0000 0000 5126')
const NOT_FOUND = card('4000 0000 0000 5134')

const DO_NOT_PAY_AGAIN = /Please do not pay again/

const clock = movableClock()
let shop: TestShop
let merchant: Caller
let superuser: pg.Client

const scope = suiteScope()
before(async () => {
  const env = { CHECKOUT_VELOCITY_PER_MINUTE: '1000000' }
  shop = await openTestShop(scope, ['demo'], { clock, env })
  superuser = await openSuperuser(scope, shop.database)
  merchant = await shop.merchant('demo')
})

const withCart = (slug: string, quantity = 1) => setup.withCart(shop, slug, quantity)
const countOrders = () => setup.countOrders(merchant)

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

/** Pays with a card whose gateway does not answer. Answers with the path of the pending order. */
async function payWithoutAnswer(shopper: Shopper, silent = FOUND_APPROVED): Promise<string> {
  const key = (await shopper.get('/checkout')).field('key')
  const sent = await shopper.post('/checkout', { ...DETAILS, ...silent, key })
  const path = pathOf(sent) ?? ''
  assert.match(path, /^\/orders\/[0-9a-f-]{36}$/)
  assert.match((await shopper.get(path)).text, DO_NOT_PAY_AGAIN)
  return path
}

async function payNow(shopper: Shopper): Promise<Seen> {
  const key = (await shopper.get('/checkout')).field('key')
  return shopper.follow('/checkout', { ...DETAILS, ...GOOD_CARD, key })
}

/** Lets the reconciler look the payments up. */
async function resolvePayments() {
  clock.advance(10_000)
  await superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
  const deps = openCheckout(shop.runtime)
  await reconcile({ ...deps, database: shop.runtime.workerDatabase })
}

/** Every page and form that leads to a payment sends the shopper to the pending order. */
async function assertSentTo(path: string, shopper: Shopper) {
  const cart = await shopper.get('/cart')
  assert.match(cart.text, DO_NOT_PAY_AGAIN)
  assert.ok(cart.text.includes(`href="${path}"`))
  assert.doesNotMatch(cart.text, /href="\/checkout"/)
  assert.equal(pathOf(await shopper.get('/checkout')), path)
  const form = { ...DETAILS, ...GOOD_CARD, key: 'shop-AAAAAAAAAAAAAAAA-0|x' }
  assert.equal(pathOf(await shopper.post('/checkout/update', form)), path)
  assert.equal(pathOf(await shopper.post('/checkout', form)), path)
}

describe('while a payment is not confirmed', () => {
  test('nothing else can be paid for, whatever changes in the cart', async () => {
    const shopper = await withCart('reading-lamp')
    const path = await payWithoutAnswer(shopper)
    const orders = await countOrders()
    await assertSentTo(path, shopper)
    await add(shopper, 'cedar-candle')
    await assertSentTo(path, shopper)
    await change(shopper, 'reading-lamp', 2)
    await assertSentTo(path, shopper)
    await shopper.post('/cart', { coupon: 'WELCOME10' })
    await assertSentTo(path, shopper)
    await change(shopper, 'reading-lamp', 0)
    await assertSentTo(path, shopper)
    await change(shopper, 'cedar-candle', 0)
    await add(shopper, 'garden-tea')
    await assertSentTo(path, shopper)
    assert.equal(await countOrders(), orders)
  })

  test('a checkout page that is still open in a tab leads to the pending order', async () => {
    const shopper = await withCart('reading-lamp')
    const tab = await shopper.get('/checkout')
    await add(shopper, 'cedar-candle')
    const other = await shopper.get('/checkout')
    await change(shopper, 'cedar-candle', 0)
    const path = await payWithoutAnswer(shopper)
    const orders = await countOrders()
    await add(shopper, 'garden-tea')
    for (const page of [tab, other]) {
      const form = { ...DETAILS, ...GOOD_CARD, key: page.field('key') }
      assert.equal(pathOf(await shopper.post('/checkout', form)), path)
    }
    await resolvePayments()
    for (const page of [tab, other]) {
      const form = { ...DETAILS, ...GOOD_CARD, key: page.field('key') }
      assert.equal(pathOf(await shopper.post('/checkout', form)), path)
    }
    assert.equal(await countOrders(), orders)
  })

  test('a browser that did not receive the answer is led to the order by its cart', async () => {
    const shopper = await withCart('reading-lamp')
    await shopper.get('/checkout')
    const cookies = new Map(shopper.cookies)
    const path = await payWithoutAnswer(shopper)
    const orders = await countOrders()
    // A shopper who goes back before the answer arrives does not get its cookies.
    shopper.cookies.clear()
    for (const [name, value] of cookies) shopper.cookies.set(name, value)
    await add(shopper, 'cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    assert.equal(pathOf(await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, key })), path)
    await assertSentTo(path, shopper)
    assert.equal(await countOrders(), orders)
  })

  test('a second tab that has changed the cart meanwhile leads to the same order', async (t) => {
    const shopper = await withCart('reading-lamp')
    const form = { ...DETAILS, key: (await shopper.get('/checkout')).field('key') }
    const orders = await countOrders()
    const database = await shop.database.openAdmin()
    t.after(() => database.end())
    await database.query('begin; lock table orders in share row exclusive mode')
    const first = shopper.post('/checkout', { ...form, ...FOUND_APPROVED })
    await until('the first waits for the lock', async () => {
      const { rowCount } = await database.query(
        `select from pg_locks
          where database = (select oid from pg_database where datname = current_database())
            and relation = 'orders'::regclass and not granted`,
      )
      return rowCount === 1
    })
    await add(shopper, 'cedar-candle')
    const second = shopper.post('/checkout', { ...form, ...GOOD_CARD })
    await delay(300)
    await database.query('rollback')
    const [one, two] = [pathOf(await first), pathOf(await second)]
    assert.match(String(one), /^\/orders\//)
    assert.equal(one, two)
    assert.equal(await countOrders(), orders + 1)
  })
})

describe('once the outcome of the payment is known', () => {
  test('ordered items leave the cart, and items that were added meanwhile stay', async () => {
    const shopper = await withCart('reading-lamp')
    const path = await payWithoutAnswer(shopper)
    await add(shopper, 'cedar-candle')
    await change(shopper, 'reading-lamp', 3)
    await resolvePayments()
    const { text } = await shopper.get('/cart')
    assert.doesNotMatch(text, DO_NOT_PAY_AGAIN)
    assert.match(
      text,
      /Reading Lamp[\s\S]+value="2" min="0"[\s\S]+Cedar Candle[\s\S]+value="1" min/,
    )
    const placed = await payNow(shopper)
    assert.match(placed.text, /Thank you for your order!/)
    assert.match((await shopper.get(path)).text, /data-status="placed"/)
  })

  test('the page of the placed order empties the cart', async () => {
    const shopper = await withCart('reading-lamp')
    const path = await payWithoutAnswer(shopper)
    await resolvePayments()
    const seen = await shopper.get(path)
    assert.match(seen.text, /data-status="placed"[\s\S]*/)
    assert.match(seen.text, /Cart, 0 items/)
    assert.match((await shopper.get('/cart')).text, /Your cart is empty/)
  })

  test('a payment that failed leaves the cart, which another card can pay for', async () => {
    for (const looksAtOrder of [true, false]) {
      const shopper = await withCart('reading-lamp')
      const path = await payWithoutAnswer(shopper, NOT_FOUND)
      await assertSentTo(path, shopper)
      await resolvePayments()
      if (looksAtOrder) assert.match((await shopper.get(path)).text, /data-status="payment_failed"/)
      const orders = await countOrders()
      assert.match((await payNow(shopper)).text, /Thank you for your order!/)
      assert.equal(await countOrders(), orders + 1)
    }
  })

  test('a shopper without a pending order causes no read of any order', async (t) => {
    const [regular, pending] = [await withCart('reading-lamp'), await withCart('reading-lamp')]
    assert.match((await payNow(regular)).text, /Thank you for your order!/)
    await add(regular, 'cedar-candle')
    await payWithoutAnswer(pending)
    await superuser.query('alter table orders rename to orders_away')
    t.after(() => superuser.query('alter table orders_away rename to orders'))
    assert.equal((await regular.get('/cart')).status, 200)
    assert.equal((await regular.get('/checkout')).status, 200)
    // Where the state of a pending order cannot be read, nothing may be paid.
    assert.equal((await pending.get('/checkout')).status, 503)
    assert.equal((await pending.post('/checkout', { ...DETAILS, ...GOOD_CARD })).status, 503)
  })
})
