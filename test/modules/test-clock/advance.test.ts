import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { suiteScope } from '../../harness/scope.ts'
import {
  ALL_OPTIONS,
  APPROVED,
  cardOf,
  cart,
  checkout,
  enable,
  issueGiftCard,
  LOST_BEFORE_CHARGE,
  type Shop,
} from '../checkout/setup.ts'
import { createCoupon } from '../marketing/setup.ts'
import { PLACED, URL as WEBHOOKS } from '../webhooks/setup.ts'
import {
  assertJustAfter,
  CLOCK,
  type ClockApp,
  inDays,
  keyed,
  openClockApp,
  shopperNamed,
} from './setup.ts'

describe('a move of the clock', () => {
  const held = {} as { app: ClockApp }
  const scope = suiteScope()
  before(async () => {
    held.app = await openClockApp(scope)
    scope.after(() => assertOrdersAddUp(held.app.superuser))
  })

  /** A store with one thing of each kind that becomes due within a month. */
  async function plantAll({ merchant, tenant, variants }: Shop) {
    const { app } = held
    await enable(merchant, 'gift_cards', 'store_credit')
    await merchant.patch('/v1/my/store', { auto_deliver_days: 5 })
    const endpoint = { url: app.receiver.url(`/${tenant}`), events: [PLACED] }
    assert.equal((await merchant.post(WEBHOOKS, endpoint)).status, 201)
    const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
    await merchant.post('/v1/merchant/fraud/bans', ban)
    const expires = { card: inDays(20), credit: inDays(10) }
    const card = await issueGiftCard(merchant, 500, { expires_at: expires.card })
    const credit = { amount_cents: 300, currency: 'USD', reason: 'x', expires_at: expires.credit }
    await merchant.post('/v1/merchant/store-credit/ann/credit', credit, keyed())
    const sold = await checkout(
      app,
      { tenant },
      cart(variants[1_000], { email: shopperNamed('ann') }),
    )
    assert.equal(sold.status, 201, sold.text)
    const packed = await merchant.post(`/v1/merchant/orders/${sold.body.order.id}/fulfillments`)
    const parcel = packed.body.fulfillment.id as string
    await merchant.post(`/v1/merchant/fulfillments/${parcel}/ship`)
    const review = cart(variants[1_000], { email: 'review@example.com', customer_ref: 'rex' })
    const onHold = await checkout(app, { tenant }, review)
    assert.equal(onHold.status, 202, onHold.text)
    const reader = { email: shopperNamed('reader'), source: 'footer' }
    await app.storefront.post(`/v1/tenants/${tenant}/newsletter`, reader)
    return {
      card: card.gift_card.id,
      order: sold.body.order.id as string,
      parcel,
      onHold: onHold.body.order.id as string,
      expires,
    }
  }

  test('a move of the clock by a month runs each due thing once, at its own time and in that order', async () => {
    const { app } = held
    const shop = await app.openSandbox('month')
    const made = await plantAll(shop)
    const start = Date.now()
    const ran = await app.advance(shop.merchant, { advance: 'P31D' })
    const times = ran.map(({ at }) => at)
    assert.deepEqual(times, times.toSorted(), 'in the order of time')

    const one = (kind: string) => {
      const found = ran.filter((run) => run.kind === kind)
      assert.equal(found.length, 1, `${kind}: ${JSON.stringify(found)}`)
      return found[0] as (typeof ran)[number]
    }
    const parcel = one('parcel_delivery')
    assert.deepEqual([parcel.id, parcel.outcome], [made.parcel, 'delivered'])
    const hold = one('hold_expiry')
    assert.deepEqual([hold.id, hold.outcome], [made.onHold, 'cancelled'])
    const credit = one('store_credit_expiry')
    assertJustAfter(credit.at, made.expires.credit, 'the credit')
    const card = one('gift_card_expiry')
    assert.deepEqual([card.id, card.outcome], [made.card, 'expired'])
    assertJustAfter(card.at, made.expires.card, 'the gift card')
    assert.equal(one('newsletter_upkeep').outcome, '1 unconfirmed deleted')

    const { body: read } = await shop.merchant.get(`/v1/merchant/orders/${made.order}`)
    assert.equal(read.order.status, 'delivered')
    const [{ shipped_at, delivered_at }] = read.fulfillments
    assertJustAfter(delivered_at, inDays(5, shipped_at), 'the parcel')
    assertJustAfter(parcel.at, delivered_at, 'its entry')
    const { body: lines } = await shop.merchant.get(
      `/v1/merchant/gift-cards/${made.card}/transactions`,
    )
    assertJustAfter(lines.transactions[0].created_at, made.expires.card, 'the ledger')
    const mailed = ran.filter(({ kind }) => kind === 'mail').map(({ outcome }) => outcome)
    assert.ok(mailed.includes('order_delivered sent'), mailed.join())
    assert.ok(
      ran.some(({ kind, outcome }) => kind === 'webhook_delivery' && outcome === 'delivered'),
    )
    const { body: clock } = await shop.merchant.get(CLOCK)
    assertJustAfter(clock.now, inDays(31, start), 'the clock')
  })

  test('moves no other store: none of its rows change, and its time stays real', async () => {
    const { app } = held
    const [moved, other] = [await app.openSandbox('moved'), await app.openSandbox('other')]
    await plantAll(moved)
    await plantAll(other)
    const before = await held.app.everythingOf('other')
    const ran = await app.advance(moved.merchant, { advance: 'P31D' })
    assert.ok(ran.length >= 5)
    assert.equal(await held.app.everythingOf('other'), before)
    const { body: clock } = await other.merchant.get(CLOCK)
    assertJustAfter(clock.now, new Date(Date.now() - 30_000).toISOString(), 'the other clock')
    assert.deepEqual([clock.state, clock.ran], ['ready', []])
    const sold = await checkout(app, other, cart(other.variants[1_000]))
    const age = Math.abs(Date.now() - Date.parse(sold.body.order.created_at))
    assert.ok(age < 60_000, 'an order of the other store is dated by real time')
  })

  test('lets coupons, return windows and new rows follow the new time', async () => {
    const { app } = held
    const shop = await app.openSandbox('windows')
    const coupon = await createCoupon(shop.merchant, { ends_at: inDays(10) })
    const later = await createCoupon(shop.merchant, { starts_at: inDays(20) })
    const buy = (code: string) =>
      checkout(app, shop, cart(shop.variants[1_000], { coupon_code: code }))
    const manifest = {
      ...ALL_OPTIONS,
      behavior: { ...ALL_OPTIONS.behavior, returns: { windowDays: 5 } },
    }
    assert.equal((await shop.merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
    const early = await buy(coupon.code)
    assert.equal(early.status, 201, early.text)
    const { id } = early.body.order
    const packed = await shop.merchant.post(`/v1/merchant/orders/${id}/fulfillments`)
    const parcel = `/v1/merchant/fulfillments/${packed.body.fulfillment.id}`
    await shop.merchant.post(`${parcel}/ship`)
    await shop.merchant.post(`${parcel}/deliver`)
    const lines = [{ order_item_id: early.body.items[0].id, quantity: 1 }]
    const sendBack = () =>
      app.storefront.post(
        `/v1/tenants/windows/orders/${id}/returns`,
        { customer_ref: 'ann', lines },
        keyed(),
      )
    assert.equal((await buy(later.code)).body.error.code, 'coupon_invalid')
    await app.advance(shop.merchant, { set: inDays(25) })
    assert.equal((await buy(coupon.code)).body.error.code, 'coupon_invalid')
    const late = await sendBack()
    assert.equal(late.body.error?.code, 'return_window_closed', late.text)
    const bought = await buy(later.code)
    assert.equal(bought.status, 201, bought.text)
    assertJustAfter(bought.body.order.created_at, inDays(25, Date.now() - 60_000), 'the order')
    const { rows } = await app.superuser.query(
      `select max(created_at) as at from ledger_journals where tenant_ref = 'windows'`,
    )
    assertJustAfter(rows[0].at.toISOString(), inDays(25, Date.now() - 60_000), 'its journal')
  })

  test('retries webhooks by the clock of the store, with signatures of machine time', async () => {
    const { app } = held
    const shop = await app.openSandbox('ladder')
    const endpoint = { url: app.receiver.url('/ladder'), events: [PLACED] }
    await shop.merchant.post(WEBHOOKS, endpoint)
    app.receiver.answer((response, { path }) => {
      response.statusCode = path === '/ladder' ? 500 : 200
      response.end()
    })
    await checkout(app, shop, cart(shop.variants[1_000]))
    const ran = await app.advance(shop.merchant, { advance: 'P2D' })
    app.receiver.answer((response) => response.end())
    const tries = ran.filter(({ kind }) => kind === 'webhook_delivery')
    assert.deepEqual(
      tries.map(({ outcome }) => outcome),
      ['failed', 'failed', 'failed', 'failed', 'failed', 'dead_lettered'],
    )
    const gaps = tries.slice(1).map(({ at }, i) => Date.parse(at) - Date.parse(tries[i]?.at ?? ''))
    for (const [i, seconds] of [60, 300, 1_800, 7_200, 43_200].entries()) {
      const late = (gaps[i] ?? 0) - seconds * 1_000
      assert.ok(late >= -1_000 && late < 120_000, `wait ${i}: ${gaps[i]}`)
    }
    const signed = app.receiver.received.filter(({ path }) => path === '/ladder')
    assert.equal(signed.length, 6)
    for (const { headers } of signed) {
      const at = Number(headers['webhook-timestamp'] ?? headers['x-webhook-timestamp']) * 1_000
      assert.ok(Math.abs(Date.now() - at) < 60_000, 'receivers compare it with their own clock')
    }
  })

  test('looks a payment without an answer up at its own time', async () => {
    const { app } = held
    const shop = await app.openSandbox('silent')
    const lost = cart(shop.variants[1_000], { card: LOST_BEFORE_CHARGE })
    const answer = await checkout(app, shop, lost)
    assert.equal(answer.body.error.code, 'payment_unconfirmed', answer.text)
    const ran = await app.advance(shop.merchant, { advance: 'PT1H' })
    assert.deepEqual(ran.map(({ kind, outcome }) => `${kind}: ${outcome}`).slice(0, 1), [
      'operation: checkout resumed',
    ])
    const { rows } = await app.superuser.query(
      `select status from orders where tenant_ref = 'silent'`,
    )
    assert.deepEqual(rows, [{ status: 'payment_failed' }])
    const { rows: waiting } = await app.superuser.query(
      `select from payment_attempts where tenant_ref = 'silent' and next_check_at is not null`,
    )
    assert.equal(waiting.length, 0, 'the late lookups, 1 and 5 minutes later, are over')
  })

  test("lets an order explain in its store's time when a payment is looked up", async () => {
    const { app } = held
    const shop = await app.openSandbox('explained')
    await app.advance(shop.merchant, { advance: 'P1M' })
    const lost = cart(shop.variants[1_000], { card: LOST_BEFORE_CHARGE })
    const { body } = await checkout(app, shop, lost)
    const path = `/v1/merchant/orders/${body.order.id}/explain`
    const { since, next_check_at } = (await shop.merchant.get(path)).body.facts.waiting_for
    const inMs = Date.parse(next_check_at) - Date.parse(since)
    assert.ok(inMs > 0 && inMs < 70_000, `${since}, ${next_check_at}`)
  })

  test('continues from where the last move ended, plus the time that has passed since', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('again')
    const start = Date.now()
    await app.advance(merchant, { advance: 'P1D' })
    const first = (await merchant.get(CLOCK)).body.now
    assertJustAfter(first, inDays(1, start), 'the first move')
    await app.advance(merchant, { advance: 'P1M' })
    const { body } = await merchant.get(CLOCK)
    const month = new Date(first)
    month.setUTCMonth(month.getUTCMonth() + 1)
    if (month.getUTCDate() === new Date(first).getUTCDate()) {
      assertJustAfter(body.now, month.toISOString(), 'the second move')
    }
    assert.ok(Date.parse(body.now) - Date.parse(first) >= 28 * DAY_MS)
  })

  test('a move of the clock by two years with nothing due ends at once', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('idle')
    const start = Date.now()
    assert.deepEqual(await app.advance(merchant, { set: inDays(730) }), [])
    assertJustAfter((await merchant.get(CLOCK)).body.now, inDays(730, start), 'the clock')
  })

  test('shows what it ran in pages, and forgets it with the next move', async () => {
    const { app } = held
    const { merchant } = await app.openSandbox('pages')
    await enable(merchant, 'gift_cards')
    for (const days of [1, 2, 3, 4, 5]) {
      await issueGiftCard(merchant, 100, { expires_at: inDays(days) })
    }
    const ran = await app.advance(merchant, { advance: 'P6D' })
    const expired = ran.filter(({ kind }) => kind === 'gift_card_expiry')
    assert.equal(expired.length, 5)
    const { body: first } = await merchant.get(`${CLOCK}?limit=2`)
    assert.deepEqual([first.ran, first.total], [ran.slice(0, 2), ran.length])
    const { body: next } = await merchant.get(`${CLOCK}?limit=2&after=${first.next_after}`)
    assert.deepEqual(next.ran, ran.slice(2, 4))
    await app.advance(merchant, { advance: 'PT1S' })
    assert.deepEqual((await merchant.get(CLOCK)).body.ran, [])
    const { rows } = await app.superuser.query(
      `select count(*)::int as kept from test_clock_runs where tenant_ref = 'pages'`,
    )
    assert.deepEqual(rows, [{ kept: 0 }])
  })

  test('declines an expired card by the time of the store', async () => {
    const { app } = held
    const shop = await app.openSandbox('expiring')
    const soon = new Date(Date.now() + 200 * DAY_MS)
    const ccexp = `${String(soon.getUTCMonth() + 1).padStart(2, '0')}/${String(soon.getUTCFullYear()).slice(2)}`
    const card = { ...cardOf(APPROVED.ccnumber), ccexp }
    const buy = () => checkout(app, shop, cart(shop.variants[1_000], { card }))
    assert.equal((await buy()).status, 201)
    await app.advance(shop.merchant, { advance: 'P1Y' })
    const refused = await buy()
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'invalid_body'])
  })

  test('runs no kind of work that the guide does not explain', async () => {
    const page = await readFile('docs/guides/test-clock.md', 'utf8')
    // Events are shown by what follows from them.
    const kinds = held.app.mover().work.map(({ kind }) => kind)
    const shown = kinds.filter((kind) => !['internal_event', 'event'].includes(kind))
    assert.deepEqual(
      shown.filter((kind) => !page.includes(`\`${kind}\``)),
      [],
    )
  })
})
