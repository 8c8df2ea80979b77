import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addVariant, DECLINED } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'
import { assertDrilldowns, ok, shareTimedApp, sumRows, type TimedApp, URL } from './setup.ts'

const shared = shareTimedApp()
let app: TimedApp

describe('the report about payments', () => {
  before(() => {
    app = shared.current
  })

  test('counts attempts by outcome and reason, before and after a day is over', async () => {
    const paid = await app.shopIn('paid', 'Europe/Berlin')
    // 23:30 in UTC is the next day in Berlin.
    app.setTime('paid', '2026-06-01T23:30:00Z')
    await app.place(paid)
    for (let n = 0; n < 2; n++) {
      const { merchant: _, ...where } = paid
      const items = [{ variant_id: paid.variants[333], quantity: 1 }]
      const body = { customer_ref: 'ann', items, card: DECLINED }
      const answer = await app.storefront.post(
        `/v1/tenants/${where.tenant}/checkout`,
        body,
        keyed(),
      )
      assert.equal(answer.status, 402, answer.text)
    }
    const read2 = async () =>
      ok(await paid.merchant.get(`${URL}/payments?from=2026-06-01&to=2026-06-03`))
    const open = await read2()
    assert.deepEqual(
      [open.attempts_count, open.approved_count, open.declined_count, open.approval_rate_bps],
      [3, 1, 2, 3_333],
    )
    assert.deepEqual(
      open.buckets.map(({ attempts_count }: Record<string, number>) => attempts_count),
      [0, 3, 0],
    )
    await assertDrilldowns(paid.merchant, open.figures)
    app.setTime('paid', '2026-06-09T12:00:00Z')
    await app.count()
    const over = await read2()
    assert.deepEqual(
      [over.buckets, over.reasons, over.figures],
      [open.buckets, open.reasons, open.figures],
    )
    await assertDrilldowns(paid.merchant, over.figures)
    for (const { drilldown, ...bucket } of over.buckets) {
      assert.equal(await sumRows(paid.merchant, drilldown.href), bucket.attempts_count, bucket.day)
      for (const outcome of ['approved', 'declined', 'failed', 'open']) {
        const rows = await sumRows(paid.merchant, `${drilldown.href}&outcome=${outcome}`)
        assert.equal(rows, bucket[`${outcome}_count`], `${bucket.day} ${outcome}`)
      }
    }
    const declined = over.reasons.find(({ outcome }: { outcome: string }) => outcome === 'declined')
    assert.equal(await sumRows(paid.merchant, declined.drilldown.href), 2)
    assert.ok(declined.reason.length > 0)
    const { rows } = await app.superuser.query(
      `select sum(attempts)::int as n from analytics_payment_days where tenant_ref = 'paid'`,
    )
    assert.equal(rows[0].n, 3, 'the days that are over are counted for good')
  })
})

describe('the report about inventory', () => {
  before(() => {
    app = shared.current
  })

  test('shows which variants sold, how long the stock lasts, and the margin by the moving average', async () => {
    const stocked = await app.shopIn('stocked', 'UTC')
    const { merchant } = stocked
    const variant = await addVariant(merchant, 2_000)
    ok(await merchant.put(`/v1/merchant/inventory/${variant}`, { track_inventory: true }))
    const { vendor } = ok(
      await merchant.post('/v1/merchant/purchasing/vendors', { name: 'V' }),
      201,
    )
    const lines = [{ variant_id: variant, quantity: 10, unit_cost_cents: 500 }]
    const { purchase_order } = ok(
      await merchant.post('/v1/merchant/purchasing/orders', { vendor_id: vendor.id, lines }),
      201,
    )
    const url = `/v1/merchant/purchasing/orders/${purchase_order.id}`
    ok(await merchant.post(`${url}/order`))
    const received = [{ line_id: purchase_order.lines[0].id, quantity: 10 }]
    ok(await merchant.post(`${url}/receive`, { lines: received }, keyed()))
    await app.place(stocked, { items: [{ variant_id: variant, quantity: 4 }] })
    await app.count()
    const { variants } = ok(await merchant.get(`${URL}/inventory`))
    assert.equal(variants.length, 1)
    const { drilldown, sku: _, product_id: __, ...row } = variants[0]
    assert.deepEqual(row, {
      variant_id: variant,
      on_hand: 10,
      units_count: 4,
      net_cents: 8_000,
      unit_cost_cents: 500,
      cost_cents: 2_000,
      sell_through_bps: Math.round(40_000 / 14),
      days_of_cover: 75,
      margin_bps: 7_500,
    })
    assert.equal(await sumRows(merchant, `${drilldown.href}&figure=units_count`), 4)
    assert.equal(await sumRows(merchant, drilldown.href), 8_000)
    const { item } = ok(await merchant.get(drilldown.levels_href))
    const onHand = item.levels.map((level: { on_hand: number }) => level.on_hand)
    assert.equal(
      onHand.reduce((sum: number, each: number) => sum + each, 0),
      10,
    )
  })
})

describe('the report about subscriptions', () => {
  before(() => {
    app = shared.current
  })

  test('shows what is charged in a month, and which subscriptions began and ended', async () => {
    const subs = await app.shopIn('subs', 'UTC')
    app.setTime('subs', '2026-07-10T12:00:00Z')
    const { order } = await app.place(subs)
    const insert = (unit: number, quantity: number, interval: string, every: number, more = '') =>
      app.superuser.query(
        `insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id, quantity,
                                    interval, interval_count, unit_price_cents, currency, status,
                                    origin_order_id, anchor_on, current_period_start, created_at,
                                    updated_at, subscription_number)
         select 'subs', fd_uuid(), 'ann', product_id, variant_id, $2, $3, $4, $1, 'USD',
                ${more === '' ? `'active'` : `'${more}'`}, $5, '2026-06-01', '2026-06-01', '2026-06-01',
                '2026-07-05', $1
           from order_items where order_id = $5 limit 1
         returning id`,
        [unit, quantity, interval, every, order.id],
      )
    const { id: monthly } = (await insert(1_000, 2, 'month', 1)).rows[0]
    await insert(1_200, 1, 'year', 1)
    await insert(700, 1, 'week', 2, 'past_due')
    await insert(500, 1, 'month', 1, 'cancelled')
    const body = ok(await subs.merchant.get(`${URL}/subscriptions?from=2026-07-01&to=2026-07-31`))
    assert.deepEqual(
      [body.active_count, body.past_due_count, body.mrr_cents, body.churned_count, body.churn_bps],
      [2, 1, 2_000 + 100 + Math.round((700 * 30.4375) / 14), 1, 2_500],
    )
    assert.equal(body.started_count, 0)
    // A renewal that the bank declined first and approved the next day, and one at the first attempt.
    const renew = (order_id: string, at: string, state: string) =>
      app.superuser.query(
        `insert into payment_attempts (tenant_ref, id, order_id, kind, gateway, amount_cents, currency,
                                       state, reason, created_at, closed_at, next_check_at)
         values ('subs', fd_uuid(), $1, 'renewal', 'simulated', 500, 'USD', $3,
                 case when $3 = 'declined' then 'card_declined' end, $2, $2, null)`,
        [order_id, at, state],
      )
    const other = (await app.place(subs)).order.id
    await renew(order.id, '2026-07-03T10:00:00Z', 'declined')
    await app.superuser.query(
      `insert into subscription_declines (tenant_ref, subscription_id, cycle, order_id, amount_cents,
                                          currency, class)
       values ('subs', $1, 2, $2, 500, 'USD', 'soft')`,
      [monthly, order.id],
    )
    const again = (await app.place(subs)).order.id
    await app.superuser.query(
      'update orders set subscription_id = $1, subscription_cycle = 2 where id = $2',
      [monthly, again],
    )
    await renew(again, '2026-07-04T10:00:00Z', 'approved')
    await renew(other, '2026-07-04T11:00:00Z', 'approved')
    for (const isOver of [false, true]) {
      if (isOver) {
        app.setTime('subs', '2026-08-02T12:00:00Z')
        await app.count()
      }
      const now = ok(await subs.merchant.get(`${URL}/subscriptions?from=2026-07-01&to=2026-07-31`))
      assert.equal(now.recovered_count, 1)
      await assertDrilldowns(subs.merchant, now.figures)
      const { approved_count, figures } = ok(
        await subs.merchant.get(`${URL}/payments?from=2026-07-01&to=2026-07-31`),
      )
      assert.equal(approved_count, 5, 'a recovered renewal counts once among the approved ones')
      await assertDrilldowns(subs.merchant, figures)
    }
    // A subscription that expired has no other time of its end than that of its last change.
    await insert(300, 1, 'month', 1, 'expired')
    const churned = async () => {
      const july = `${URL}/subscriptions?from=2026-07-01&to=2026-07-31`
      return ok(await subs.merchant.get(july)).churned_count
    }
    assert.equal(await churned(), 2)
    const erase = '/v1/my/privacy/erase'
    const { confirm } = ok(await subs.merchant.post(erase, { customer_ref: 'ann' }, keyed()), 202)
    ok(await subs.merchant.post(erase, { customer_ref: 'ann', confirm }, keyed()))
    assert.equal(await churned(), 2, 'an erasure does not move the end of a subscription')
  })
})
