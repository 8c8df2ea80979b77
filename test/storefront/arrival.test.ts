import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../src/kernel/time.ts'
import { addWorkingDays } from '../../storefront/layout/arrival.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import * as setup from './setup.ts'
import { DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope, ['demo', 'ember'])
})

/** Dates as a page shows them: `Tue, Nov 24 – Fri, Nov 27`. */
const daysShown = (min: number, max: number, language = 'en-US', timeZone = 'UTC') => {
  const today = new Date().toLocaleDateString('en-CA', { timeZone })
  const [first, last] = [addWorkingDays(today, min), addWorkingDays(today, max)]
  return new Intl.DateTimeFormat(language, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  }).formatRange(new Date(first), new Date(last))
}

describe('the day of arrival', () => {
  test('is counted in working days', () => {
    assert.equal(addWorkingDays('2026-11-19', 1), '2026-11-20')
    assert.equal(addWorkingDays('2026-11-20', 1), '2026-11-23')
    assert.equal(addWorkingDays('2026-11-20', 5), '2026-11-27')
    assert.equal(addWorkingDays('2026-11-21', 0), '2026-11-21')
    assert.equal(addWorkingDays('2026-12-31', 1), '2027-01-01')
  })

  test('is shown on the product, at the checkout by the way of shipping, and on the order', async () => {
    const standard = `Expected delivery: ${daysShown(3, 5)}`
    const express = `Expected delivery: ${daysShown(1, 1)}`
    const shopper = await setup.withCart(shop, 'cedar-candle')
    assert.ok((await shopper.get('/products/cedar-candle')).text.includes(standard))
    const checkout = await shopper.get('/checkout')
    assert.ok(checkout.text.includes(standard) && checkout.text.includes(express))
    const priced = await shopper.post('/checkout/update', { ...DETAILS, speed: 'expedited' })
    const form = { ...DETAILS, ...GOOD_CARD, speed: 'expedited', key: priced.field('key') }
    const placed = await shopper.post('/checkout', form)
    assert.equal(placed.status, 303, placed.text)
    const order = await shopper.get(String(placed.headers.location))
    assert.ok(order.text.includes(express), order.text)
    assert.ok(!order.text.includes(standard) || standard === express)
  })

  test('is written in the language of the store', async () => {
    const { text } = await openShopper(shop.url, 'ember.localhost').get('/products/midnight-bar')
    const days = daysShown(2, 4, 'de-DE', 'Europe/Berlin')
    assert.ok(text.includes(`Voraussichtliche Lieferung: ${days}`), text)
  })

  test('is not shown for gift cards, and not once the day has passed', async (t) => {
    const shopper = openShopper(shop.url, 'demo.localhost')
    assert.doesNotMatch((await shopper.get('/products/gift-card')).text, /Expected delivery/)
    const buyer = await setup.withCart(shop, 'cedar-candle')
    const path = await setup.placeOrder(buyer)
    assert.match((await buyer.get(path)).text, /data-arrival/)
    const longAgo = new Date(Date.now() - 30 * DAY_MS)
    const superuser = await openSuperuser(t, shop.database)
    await superuser.query('update orders set placed_at = $1 where id = $2', [
      longAgo,
      path.slice('/orders/'.length),
    ])
    assert.doesNotMatch((await buyer.get(path)).text, /data-arrival/)
  })
})
