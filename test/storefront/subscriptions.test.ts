import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../src/kernel/time.ts'
import { createLinkToken } from '../../src/modules/subscriptions/link.ts'
import type { Caller } from '../harness/app.ts'
import { startNmi, type TestNmi } from '../harness/nmi.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Seen, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { card, DETAILS, GOOD_CARD } from './setup.ts'

const SECURITY_KEY = 'a-security-key-of-32-characters!'
const BASE = '/v1/merchant/subscriptions'

let shop: TestShop
let merchant: Caller
let nmi: TestNmi

const scope = suiteScope()
before(async () => {
  nmi = await startNmi(SECURITY_KEY)
  scope.after(() => nmi.close())
  const env = { NMI_URL: nmi.url, CHECKOUT_VELOCITY_PER_MINUTE: '100000' }
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'], { env })
  merchant = await shop.merchant('demo')
})

/** A shopper who has bought coffee by subscription, with the page of the subscription. */
async function subscribe(): Promise<{ shopper: Shopper; path: string; id: string }> {
  const shopper = await setup.withCart(shop, 'house-coffee')
  const shown = await shopper.post('/checkout/update', { ...DETAILS, subscribe: '1' })
  const form = { ...DETAILS, ...GOOD_CARD, subscribe: '1', key: shown.field('key') }
  const placed = await shopper.post('/checkout', form)
  assert.equal(placed.status, 303, placed.text)
  const list = await shopper.get('/subscriptions')
  const path = /href="(\/subscriptions\/[0-9a-f-]{36})"/.exec(list.text)?.[1] ?? ''
  assert.notEqual(path, '', list.text)
  return { shopper, path, id: path.split('/')[2] ?? '' }
}

const read = async (id: string) => (await merchant.get(`${BASE}/${id}`)).body.subscription

const chargesIn = ({ text }: Seen) =>
  [...text.matchAll(/data-cycle="(\d+)"/g)].map(([, cycle]) => Number(cycle))

describe('the page of a subscription', () => {
  test('can be reached from the orders, and shows the coming charges', async () => {
    const { shopper, path } = await subscribe()
    assert.match((await shopper.get('/orders')).text, /href="\/subscriptions">Your subscriptions/)
    const page = await shopper.get(path)
    assert.deepEqual(chargesIn(page), [2, 3, 4])
    assert.match(page.text, /<h1>House Coffee<\/h1>/)
    assert.match(page.text, /<dd class="order-card-images"><span class="line-image"[^>]*><img /)
    assert.match(page.text, /every month/)
    assert.match(page.text, /Visa ending in 1111, 10\/40/)
    assert.match(page.text, /1 Square/)
    assert.equal(page.headers['cache-control'], 'no-store')
    const amount = (await read(path.split('/')[2] ?? '')).next_charges[0].amount_cents
    assert.ok(page.text.includes(`$${(amount / 100).toFixed(2)}`))
  })

  test('skips a delivery once, and sends it after all', async () => {
    const { shopper, path } = await subscribe()
    const skipped = await shopper.follow(`${path}/skip`, { cycle: '2' })
    assert.match(skipped.text, /This delivery is skipped/)
    assert.deepEqual(chargesIn(skipped), [3, 4, 5])
    assert.deepEqual(chargesIn(await shopper.follow(`${path}/skip`, { cycle: '2' })), [3, 4, 5])
    assert.match(skipped.text, /data-skipped="2"/)
    const back = await shopper.follow(`${path}/unskip`, { cycle: '2' })
    assert.match(back.text, /This delivery will be sent/)
    assert.deepEqual(chargesIn(back), [2, 3, 4])
    const late = await shopper.post(`${path}/skip`, { cycle: '1' })
    assert.match(late.text, /role="alert"[^>]*>This delivery can no longer be changed/)
  })

  test('pauses until a date, resumes, and keeps a cancellation that was planned', async () => {
    const { shopper, path, id } = await subscribe()
    const date = new Date(Date.now() + 100 * DAY_MS).toISOString().slice(0, 10)
    const paused = await shopper.follow(`${path}/pause`, { until: date })
    assert.match(paused.text, /The subscription is paused/)
    assert.match(paused.text, /Paused until/)
    assert.equal(chargesIn(paused).length, 3, 'the dates after the pause are known')
    const resumed = await shopper.follow(`${path}/resume`, {})
    assert.match(resumed.text, /The subscription goes on/)
    const past = await shopper.post(`${path}/pause`, { until: '2001-01-01' })
    assert.match(past.text, /a date must be in the future/)
    const ending = await shopper.follow(`${path}/cancel`, { when: 'period_end', reason: 'tea' })
    assert.match(ending.text, /It ends when the next delivery would be due/)
    assert.match(ending.text, /No delivery is planned/)
    assert.equal((await read(id)).cancel_reason, 'tea')
    const kept = await shopper.follow(`${path}/resume`, {})
    assert.deepEqual(chargesIn(kept), [2, 3, 4])
  })

  test('changes quantity, rhythm and date, and a form from another tab does not undo it', async () => {
    const { shopper, path, id } = await subscribe()
    const page = await shopper.get(path)
    const [version, shown] = [page.field('version'), page.field('shown_date')]
    const form = {
      version,
      shown_date: shown,
      next_date: shown,
      interval: 'month',
      interval_count: '1',
    }
    const more = { ...form, quantity: '3', interval: 'week', interval_count: '2' }
    const changed = await shopper.follow(`${path}/change`, more)
    assert.match(changed.text, /The subscription has been changed/)
    const now = await read(id)
    assert.deepEqual([now.quantity, now.interval, now.interval_count], [3, 'week', 2])
    assert.equal(now.next_charge_at.slice(0, 10), shown, 'the date stays where it was not changed')
    const stale = await shopper.post(`${path}/change`, { ...form, quantity: '1' })
    assert.match(stale.text, /role="alert"[^>]*>The subscription was changed meanwhile/)
    assert.equal((await read(id)).quantity, 3)
    const date = new Date(Date.now() + 50 * DAY_MS).toISOString().slice(0, 10)
    const dated = { ...more, version: (await shopper.get(path)).field('version'), next_date: date }
    await shopper.follow(`${path}/change`, dated)
    assert.equal((await read(id)).next_charge_at.slice(0, 10), date)
    const wrong = {
      ...dated,
      version: (await shopper.get(path)).field('version'),
      next_date: 'soon',
    }
    assert.match((await shopper.post(`${path}/change`, wrong)).text, /check what you have entered/)
  })

  test('accepts another address, and says what is wrong with an invalid one', async () => {
    const { shopper, path, id } = await subscribe()
    const form = await shopper.get(`${path}/address`)
    assert.match(form.text, /value="1 Square"/)
    const { email: _, ...address } = DETAILS
    const wrong = await shopper.post(`${path}/address`, { ...address, line1: '' })
    assert.match(wrong.text, /id="line1-error"/)
    assert.match(wrong.text, /value="London"/)
    const saved = await shopper.follow(`${path}/address`, { ...address, line1: '2 Circle' })
    assert.match(saved.text, /The address has been changed/)
    assert.equal((await read(id)).ship_to.line1, '2 Circle')
  })

  test('accepts another card, and says why one is refused', async () => {
    const { shopper, path, id } = await subscribe()
    const form = await shopper.get(`${path}/card`)
    assert.match(form.text, /nothing is charged now[\s\S]+name="card_number"/)
    const empty = await shopper.post(`${path}/card`, {})
    assert.match(empty.text, /id="card-error"[^>]*>Please enter a card/)
    const typo = await shopper.post(`${path}/card`, card('4111 1111 1111 1112'))
    assert.match(typo.text, /Please check the card number/)
    assert.doesNotMatch(typo.text, /4111 ?1111/)
    const declined = await shopper.post(`${path}/card`, card('4000 0000 0000 0002'))
    assert.match(declined.text, /id="card-error"[^>]*>Your card was declined/)
    const saved = await shopper.follow(`${path}/card`, card('5431 1111 1111 1111'))
    assert.match(saved.text, /The card has been changed/)
    assert.equal((await read(id)).payment_method.brand, 'mastercard')
  })

  test('has the gateway’s own card fields if the store has them', async (t) => {
    const { shopper, path, id } = await subscribe()
    const gateway = (body: object) => shop.operator.put('/v1/stores/demo/payments', body)
    t.after(() => gateway({ gateway: 'simulated' }))
    const credentials = { security_key: SECURITY_KEY }
    const set = await gateway({ gateway: 'nmi', credentials, tokenization_key: 'a-public-key-1' })
    assert.equal(set.status, 200, set.text)
    const form = await shopper.get(`${path}/card`)
    assert.match(form.text, /data-tokenization-key="a-public-key-1"/)
    assert.doesNotMatch(form.text, /name="card_number"/)
    assert.match(
      String(form.headers['content-security-policy']),
      /script-src 'self' https:\/\/secure/,
    )
    const calls = nmi.calls.length
    const typed = await shopper.post(`${path}/card`, GOOD_CARD)
    assert.match(typed.text, /id="card-error"[^>]*>Please enter a card/)
    assert.equal(nmi.calls.length, calls, 'a typed number goes nowhere')
    await shopper.follow(`${path}/card`, { card_token: 'tok-1' })
    assert.equal(nmi.calls[calls]?.fields.payment_token, 'tok-1')
    assert.ok((await read(id)).version > 1, 'the card was changed')
  })

  test('says why nothing can be done: while a charge is under way, and once the subscription has ended', async () => {
    const { shopper, path, id } = await subscribe()
    const admin = await shop.database.openAdmin()
    await admin.query(
      `insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at)
       values ('demo', $1, 2, 'charging', now())`,
      [id],
    )
    const page = await shopper.get(path)
    assert.match(page.text, /A payment is being made right now/)
    assert.doesNotMatch(page.text, /<form method="post" action="\/subscriptions/)
    const refused = await shopper.post(`${path}/pause`, {})
    assert.match(refused.text, /role="alert"[^>]*>A payment is being made right now/)
    assert.equal((await shopper.get(`${path}/card`)).headers.location, path)
    await admin.query(`delete from subscription_cycles where subscription_id = $1 and cycle = 2`, [
      id,
    ])
    const ended = await shopper.follow(`${path}/cancel`, { when: 'now' })
    assert.match(ended.text, /Nothing more will be sent[\s\S]+The subscription has been cancelled/)
    assert.doesNotMatch(ended.text, /<form method="post" action="\/subscriptions/)
    const again = await shopper.post(`${path}/cancel`, { when: 'now' })
    assert.match(again.text, /This is no longer possible/)
  })

  test('opens in another browser by a mailed link alone', async () => {
    const { path, id } = await subscribe()
    const browser = openShopper(shop.url, 'demo.localhost')
    const hidden = await browser.get(path)
    assert.equal(hidden.status, 404)
    assert.match(hidden.text, /We cannot show this subscription here/)
    for (const page of ['card', 'address'])
      assert.equal((await browser.get(`${path}/${page}`)).status, 404)
    assert.equal((await browser.post(`${path}/cancel`, {})).status, 404)
    const key = shop.runtime.key('subscription link')
    const token = createLinkToken(key, await shop.store('demo'), id, 30)
    assert.equal((await browser.get(`/subscriptions/link/${token}x`)).status, 404)
    const opened = await browser.get(`/subscriptions/link/${token}`)
    assert.deepEqual([opened.status, opened.headers.location], [303, path])
    assert.deepEqual(chargesIn(await browser.get(path)), [2, 3, 4])
    assert.match((await browser.get('/subscriptions')).text, new RegExp(path))
    assert.equal((await browser.get('/orders')).status, 200)
    assert.match((await browser.follow(`${path}/pause`, {})).text, /The subscription is paused/)
    assert.equal((await openShopper(shop.url, 'demo.localhost').get(path)).status, 404)
  })

  test('accepts no form of another site', async () => {
    const { shopper, path, id } = await subscribe()
    const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await shopper.post(`${path}/cancel`, { when: 'now' }, evil)).status, 403)
    assert.equal((await read(id)).status, 'active')
  })

  test('is empty for a new browser, in the language of the store', async () => {
    const english = await openShopper(shop.url, 'demo.localhost').get('/subscriptions')
    assert.match(english.text, /You have no subscription in this browser/)
    const german = await openShopper(shop.url, 'ember.localhost').get('/subscriptions')
    assert.match(german.text, /In diesem Browser haben Sie kein Abo/)
  })
})
