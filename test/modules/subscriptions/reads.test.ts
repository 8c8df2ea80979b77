import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../../harness/scope.ts'
import { stock } from '../checkout/setup.ts'
import { BASE, ok, openStores, refusal } from './setup.ts'

const shared = share((scope) => openStores(scope))

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

test('the list of subscriptions', async (t) => {
  const stores = shared.current
  const store = await stores.open('acme', '2031-01-10T12:00:00Z')
  const { merchant } = store
  const first = await store.subscribe({ customer_ref: 'ann' })
  store.travel('2031-01-20T12:00:00Z')
  const second = await store.subscribe({ customer_ref: 'bob' })
  const third = await store.subscribe({ customer_ref: 'ann' })
  const list = async (query: string) =>
    idsOf(ok(await merchant.get(`${BASE}?${query}`)).subscriptions)

  await t.test('shows the newest first, by customer, by status and by pages', async () => {
    assert.deepEqual(await list(''), [third.id, second.id, first.id])
    assert.deepEqual(await list('customer_ref=ann'), [third.id, first.id])
    assert.deepEqual(await list('customer_ref=%07'), [])
    ok(await store.act(second.id, 'pause'))
    assert.deepEqual(await list('status=paused'), [second.id])
    assert.deepEqual(await list('status=active&customer_ref=ann'), [third.id, first.id])
    const refused = await merchant.get(`${BASE}?status=nothing`)
    assert.deepEqual([refused.status, refused.body.error.code], [400, 'validation_error'])
    const page = ok(await merchant.get(`${BASE}?limit=1`))
    assert.deepEqual([idsOf(page.subscriptions), page.total], [[third.id], 3])
    assert.deepEqual(await list(`limit=2&after=${page.next_after}`), [second.id, first.id])
  })

  await t.test('shows the next charge first if only due subscriptions are asked for', async () => {
    assert.deepEqual(await list('due_before=2031-02-15'), [first.id])
    assert.deepEqual(await list('due_before=2031-03-01'), [first.id, third.id])
    const page = ok(await merchant.get(`${BASE}?due_before=2031-03-01&limit=1`))
    assert.deepEqual(await list(`due_before=2031-03-01&after=${page.next_after}`), [third.id])
    ok(await store.act(third.id, 'cancel', { at_period_end: true }))
    assert.deepEqual(await list('due_before=2031-03-01'), [first.id], 'it will not be charged')
    assert.deepEqual(await list('due_before=2031-03-01&status=past_due'), [])
  })

  await t.test('the list and the customer show the same subscriptions', async () => {
    const { body } = await merchant.get('/v1/merchant/customers/ann')
    assert.deepEqual(idsOf(body.customer.subscriptions), [third.id, first.id])
  })

  await t.test('needs the scope, and shows nothing of another store', async () => {
    const lesser = await store.app.merchant('acme', 'manage:own_orders')
    assert.deepEqual(refusal(await lesser.get(BASE)), [403, 'forbidden'])
    const other = await stores.open('globex')
    assert.deepEqual(ok(await other.merchant.get(BASE)).subscriptions, [])
    assert.deepEqual(refusal(await other.act(first.id, 'cancel')), [404, 'subscription_not_found'])
  })
})

test('the cycles of a subscription are listed one by one', async () => {
  const stores = shared.current
  const store = await stores.open('cycles', '2031-01-31T12:00:00Z')
  const { id, origin_order_id } = await store.subscribe()
  ok(await store.act(id, 'skip', { cycle: 2 }))
  ok(await store.shopper('POST', `/${id}/skip`, { cycle: 3 }))
  ok(await store.act(id, 'unskip', { cycle: 2 }))
  const { cycles, total } = ok(await store.merchant.get(`${BASE}/${id}/cycles`))
  assert.equal(total, 3)
  assert.deepEqual(
    cycles.map(({ cycle, state, reason, order_id, due_at }: Record<string, unknown>) => [
      cycle,
      state,
      reason,
      order_id,
      String(due_at).slice(0, 10),
    ]),
    [
      [3, 'skipped', 'shopper', null, '2031-03-31'],
      [2, 'scheduled', null, null, '2031-02-28'],
      [1, 'paid', null, origin_order_id, '2031-01-31'],
    ],
  )
  assert.deepEqual(refusal(await store.merchant.get(`${BASE}/nothing/cycles`)), [
    404,
    'subscription_not_found',
  ])
})

test('the settings of subscriptions', async () => {
  const stores = shared.current
  const { merchant } = await stores.open('chosen')
  const url = `${BASE}/settings`
  const defaults = {
    dunning: { delays_days: [1, 3, 5, 7], on_exhausted: 'cancel' },
    pre_renewal_notice_days: null,
    on_out_of_stock: 'skip',
  }
  assert.deepEqual(ok(await merchant.get(url)).settings, defaults)
  const wanted = {
    dunning: { delays_days: [2, 4], on_exhausted: 'pause' },
    pre_renewal_notice_days: 7,
    on_out_of_stock: 'backorder',
  }
  assert.deepEqual(ok(await merchant.put(url, wanted)).settings, wanted)
  assert.deepEqual(ok(await merchant.get(url)).settings, wanted)
  const partly = ok(await merchant.put(url, { dunning: { delays_days: [] } })).settings
  assert.deepEqual(partly, { ...defaults, dunning: { delays_days: [], on_exhausted: 'cancel' } })
  const bad = [
    { dunning: { delays_days: [0] } },
    { dunning: { delays_days: [61] } },
    { dunning: { delays_days: Array.from({ length: 11 }, () => 1) } },
    { dunning: { on_exhausted: 'forget' } },
    { pre_renewal_notice_days: 0 },
    { pre_renewal_notice_days: 61 },
    { on_out_of_stock: 'substitute' },
  ]
  for (const body of bad)
    assert.deepEqual(refusal(await merchant.put(url, body)), [400, 'invalid_body'])
  assert.deepEqual(ok(await merchant.get(url)).settings, partly)
  const other = await stores.open('unchosen')
  assert.deepEqual(ok(await other.merchant.get(url)).settings, defaults)
})

test('the forecast', async (t) => {
  const stores = shared.current
  const store = await stores.open('forecast', '2031-01-10T12:00:00Z')
  const { merchant } = store
  const forecast = async (days = 30) => ok(await merchant.get(`${BASE}/upcoming?days=${days}`))

  await t.test('the forecast of a store without subscriptions is empty', async () => {
    assert.deepEqual(await forecast(7), {
      from: '2031-01-10',
      until: '2031-01-16',
      days: [],
      charges: 0,
      expected: [],
      stock: [],
    })
    assert.equal(ok(await merchant.get(`${BASE}/upcoming`)).until, '2031-02-08')
    assert.equal(ok(await merchant.get(`${BASE}/upcoming?days=9999`)).until, '2031-04-09')
  })

  await t.test(
    'has the charges of each day, their revenue and the stock that they need',
    async () => {
      const weekly = await store.sell(500, { subscription_interval: 'week' })
      await stock(merchant, store.coffee, 3)
      const coffee = await store.subscribe({ items: [{ variant_id: store.coffee, quantity: 2 }] })
      const tea = await store.subscribe({ items: [{ variant_id: weekly, quantity: 1 }] })
      await stock(merchant, weekly, 2)
      const { days, charges, expected, stock: needed } = await forecast(35)
      assert.deepEqual(
        days.map(({ day, charges: count }: { day: string; charges: number }) => [day, count]),
        [
          ['2031-01-17', 1],
          ['2031-01-24', 1],
          ['2031-01-31', 1],
          ['2031-02-07', 1],
          ['2031-02-10', 1],
        ],
      )
      assert.deepEqual(
        [charges, expected],
        [5, [{ currency: 'USD', amount_cents: 4 * 500 + 1_600 }]],
      )
      assert.deepEqual(
        needed.map(
          ({
            variant_id,
            needed: units,
            available,
            short,
            runs_out_on,
          }: Record<string, unknown>) => {
            return [variant_id, units, available, short, runs_out_on]
          },
        ),
        [
          [weekly, 4, 2, 2, '2031-01-31'],
          [store.coffee, 2, 1, 1, '2031-02-10'],
        ],
      )
      const sum = days
        .flatMap(({ expected: of }: { expected: { amount_cents: number }[] }) => of)
        .reduce(
          (total: number, { amount_cents }: { amount_cents: number }) => total + amount_cents,
          0,
        )
      assert.equal(sum, expected[0].amount_cents, 'the days add up')
      ok(await store.act(tea.id, 'skip', { cycle: 3 }))
      ok(await store.act(coffee.id, 'cancel', { at_period_end: true }))
      const after = await forecast(35)
      assert.deepEqual(
        after.days.map(({ day }: { day: string }) => day),
        ['2031-01-17', '2031-01-31', '2031-02-07'],
      )
      ok(await store.patch(tea.id, { max_cycles: 2 }))
      assert.equal((await forecast(35)).charges, 1, 'only one more may be paid')
      ok(await store.act(tea.id, 'pause'))
      assert.equal((await forecast(35)).charges, 0)
      ok(await store.act(tea.id, 'cancel'))
    },
  )

  await t.test('counts overdue charges once, for today', async () => {
    const late = await stores.open('late', '2031-01-10T12:00:00Z')
    const daily = await late.sell(500, { subscription_interval: 'day' })
    await late.subscribe({ items: [{ variant_id: daily, quantity: 1 }] })
    late.travel('2031-01-20T12:00:00Z')
    const { days } = ok(await late.merchant.get(`${BASE}/upcoming?days=3`))
    assert.deepEqual(
      days.map(({ day, charges }: { day: string; charges: number }) => [day, charges]),
      [
        ['2031-01-20', 1],
        ['2031-01-21', 1],
        ['2031-01-22', 1],
      ],
    )
  })

  await t.test('uses the catalog price for subscriptions whose price follows it', async () => {
    const now = await stores.open('current', '2031-01-10T12:00:00Z')
    const { id } = await now.subscribe()
    ok(await now.patch(id, { price_policy: 'current' }))
    await now.superuser.query(
      `update products set subscription_price_cents = 700
        where tenant_ref = 'current' and is_subscription`,
    )
    const { expected } = ok(await now.merchant.get(`${BASE}/upcoming?days=40`))
    assert.deepEqual(expected, [{ currency: 'USD', amount_cents: 700 }])
  })

  await t.test('is the same for a day, whatever days come after it', async () => {
    // The shortest month follows, and the clocks change in March.
    const any = await stores.open('any', '2031-01-31T12:00:00Z')
    ok(await any.merchant.patch('/v1/my/store', { time_zone: 'Europe/Berlin' }))
    for (const [interval, count] of [
      ['day', 1],
      ['day', 3],
      ['day', 30],
      ['week', 1],
      ['week', 4],
      ['month', 1],
      ['month', 2],
      ['year', 1],
    ] as const) {
      const variant_id = await any.sell(500, {
        subscription_interval: interval,
        subscription_interval_count: count,
      })
      await any.subscribe({ items: [{ variant_id, quantity: 1 }] })
    }
    const skipped = await any.subscribe()
    ok(await any.act(skipped.id, 'skip', { cycle: 2 }))
    const moved = await any.subscribe()
    ok(await any.patch(moved.id, { next_charge_at: '2031-02-09' }))
    const ofDays = async (days: number) =>
      ok(await any.merchant.get(`${BASE}/upcoming?days=${days}`))
    const { days: all } = await ofDays(90)
    assert.ok(all.length > 80)
    for (let days = 1; days < 90; days++) {
      const { until, days: shown } = await ofDays(days)
      const expected = all.filter(({ day }: { day: string }) => day <= until)
      assert.deepEqual(shown, expected, `${days} days`)
    }
  })

  await t.test('leaves out days that it cannot count in full', async () => {
    const many = await stores.open('many', '2031-01-10T12:00:00Z')
    const { id } = await many.subscribe()
    await many.superuser.query(
      `insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id, quantity,
              interval, interval_count, unit_price_cents, currency, origin_order_id, anchor_on,
              current_period_start, next_charge_at, due_at, subscription_number)
       select tenant_ref, gen_random_uuid(), 'x', product_id, variant_id, 1, 'month', 1, 100, 'USD',
              origin_order_id, '2031-01-11'::date + n % 10 - interval '1 month',
              current_period_start, timestamptz '2031-01-11 06:00Z' + n % 10 * interval '1 day',
              null, 5000 + n
         from subscriptions, generate_series(0, 5999) n where id = $1`,
      [id],
    )
    await many.superuser.query(
      `insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
       select tenant_ref, id, 1, 'paid', now(), id from subscriptions
        where tenant_ref = 'many' and customer_ref = 'x'`,
    )
    const { until, days } = ok(await many.merchant.get(`${BASE}/upcoming?days=30`))
    assert.equal(until, '2031-01-18')
    assert.deepEqual(
      days.map(({ charges }: { charges: number }) => charges),
      Array.from({ length: 8 }, () => 600),
    )
  })
})
