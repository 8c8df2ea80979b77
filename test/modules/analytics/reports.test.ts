import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { FIGURE_NAMES } from '../../../src/modules/analytics/definition-schema.ts'
import { rebuild } from '../../../src/modules/analytics/jobs.ts'
import type { Shop } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'
import {
  assertDrilldowns,
  ok,
  rowsOf,
  shareTimedApp,
  sumRows,
  type TimedApp,
  URL,
} from './setup.ts'

const shared = shareTimedApp()
let app: TimedApp
let shop: Shop
let first: { order: { id: string }; items: { id: string; product_id: string }[] }

const QUARTER = 'from=2026-01-01&to=2026-03-31'
const SHIP_TO = {
  label: 'home',
  line1: '1 Main St',
  city: 'X',
  state: 'ca',
  postal_code: '1',
  country: 'us',
}
const FLAT = { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 }

const read = async (path: string) => ok(await shop.merchant.get(`${URL}/${path}`))

type Flat = Record<string, number>

/** Adds up the figures of buckets or groups. */
const addUp = (parts: Flat[]) =>
  Object.fromEntries(
    FIGURE_NAMES.map((name) => [name, parts.reduce((sum, part) => sum + (part[name] ?? 0), 0)]),
  )
const figuresOf = (body: Flat) => Object.fromEntries(FIGURE_NAMES.map((name) => [name, body[name]]))

/** Orders of three months in New York: tax, shipping, a coupon, an affiliate, refunds later on. */
async function sell() {
  shop = await app.shopIn('acme', 'America/New_York')
  ok(
    await shop.merchant.post('/v1/merchant/marketing/coupons', {
      code: 'TEN',
      type: 'percent',
      percent_bps: 1_000,
    }),
    201,
  )
  app.setTime('acme', '2026-01-15T15:00:00Z')
  first = await app.place(shop, {
    items: [
      { variant_id: shop.variants[1_000], quantity: 2 },
      { variant_id: shop.variants[333], quantity: 3 },
    ],
    coupon_code: 'ten',
    tax: { provider: 'flat_rate', rate_bps: 825 },
    shipping: FLAT,
    shipping_address: SHIP_TO,
    referral_code: 'FRIEND',
  })
  // Two in the morning in UTC is the evening before in New York.
  app.setTime('acme', '2026-02-01T02:00:00Z')
  await app.place(shop, { customer_ref: 'bob' })
  app.setTime('acme', '2026-02-10T15:00:00Z')
  const items = [{ order_item_id: first.items[0]?.id, quantity: 1 }]
  ok(await app.act(shop, first.order.id, 'refunds', { items }), 201)
  await app.place(shop, { items: [{ variant_id: shop.variants[2_500], quantity: 1 }] })
  app.setTime('acme', '2026-03-05T15:00:00Z')
  const cancelled = await app.place(shop, { customer_ref: 'eve' })
  app.setTime('acme', '2026-03-20T15:00:00Z')
  ok(await app.act(shop, cancelled.order.id, 'cancel', { reason: 'customer' }))
  app.setTime('acme', '2026-04-02T15:00:00Z')
  await app.count()
}

describe('reports', () => {
  before(async () => {
    app = shared.current
    await sell()
  })

  test('book each fact on its own day, or on the day of the sale', async () => {
    const booked = await read(`summary?${QUARTER}&interval=month`)
    const cohort = await read(`summary?${QUARTER}&interval=month&calendar=cohort`)
    const byMonth = (body: { buckets: Flat[] }, name: string) => body.buckets.map((b) => b[name])
    assert.deepEqual(byMonth(booked, 'orders_count'), [2, 1, 1])
    assert.deepEqual(byMonth(booked, 'gross_cents'), [4_999, 2_500, 2_000])
    assert.deepEqual(byMonth(booked, 'refund_cents'), [0, 900, 2_000])
    assert.deepEqual(byMonth(cohort, 'refund_cents'), [900, 0, 2_000])
    assert.equal(booked.refund_cents, cohort.refund_cents)
    assert.equal(booked.discount_cents, 300)
    assert.equal(booked.net_cents, 9_499 - 300 - 2_900)
    assert.equal(booked.shipping_cents, 499)
    assert.deepEqual([booked.restated_from, cohort.restated_from], [null, '2026-01-15'])
    assert.deepEqual([booked.final_until, cohort.final_until], ['2026-04-01', null])
    assert.equal(booked.timezone, 'America/New_York')
  })

  test('have buckets and groups that add up to their figures', async () => {
    for (const interval of ['day', 'week', 'month']) {
      for (const calendar of ['booked', 'cohort']) {
        const body = await read(`summary?${QUARTER}&interval=${interval}&calendar=${calendar}`)
        assert.deepEqual(addUp(body.buckets), figuresOf(body), `${interval} ${calendar}`)
        assert.equal(body.buckets[0].from, '2026-01-01')
        assert.equal(body.buckets.at(-1).to, '2026-03-31')
      }
    }
    for (const group_by of ['product', 'variant', 'coupon', 'affiliate', 'source']) {
      const body = await read(`sales?${QUARTER}&group_by=${group_by}`)
      assert.deepEqual(addUp([...body.groups, body.rest]), figuresOf(body), group_by)
      assert.ok(body.groups.length > 0)
    }
    const tax = await read(`tax?${QUARTER}`)
    assert.deepEqual(addUp([...tax.groups, tax.rest]), figuresOf(tax))
  })

  test('name the rows that each figure is the sum of', async () => {
    for (const calendar of ['booked', 'cohort']) {
      const body = await read(`summary?${QUARTER}&calendar=${calendar}`)
      await assertDrilldowns(shop.merchant, body.figures)
      const march = await read(
        `summary?from=2026-03-01&to=2026-03-31&calendar=${calendar}&interval=month`,
      )
      for (const figure of ['net_cents', 'gross_cents', 'refund_cents', 'orders_count']) {
        const href = `${march.buckets[0].drilldown.href}&figure=${figure}`
        assert.equal(await sumRows(shop.merchant, href), march.buckets[0][figure], figure)
      }
    }
  })

  test('name the rows of each group', async () => {
    for (const group_by of ['product', 'variant', 'coupon', 'affiliate', 'source']) {
      const { groups } = await read(`sales?${QUARTER}&group_by=${group_by}`)
      for (const group of groups) {
        for (const figure of ['net_cents', 'gross_cents', 'units_count', 'tax_cents']) {
          const href = `${group.drilldown.href}&figure=${figure}`
          assert.equal(await sumRows(shop.merchant, href), group[figure], `${group.key} ${figure}`)
        }
      }
    }
    const { groups } = await read(`tax?${QUARTER}`)
    assert.deepEqual(groups.map(({ key }: { key: string }) => key).toSorted(), ['', 'US-CA'])
    const place = groups.find(({ key }: { key: string }) => key === 'US-CA')
    assert.equal(
      await sumRows(shop.merchant, `${place.drilldown.href}&figure=tax_cents`),
      place.tax_cents,
    )
    assert.ok(place.tax_cents > 0 && place.refunded_tax_cents > 0)
  })

  test('divide an order over its lines by the shares that it stores', async () => {
    const { groups } = await read(`sales?${QUARTER}&group_by=product`)
    const [two, three] = first.items
    const find = (item: { product_id: string } | undefined) =>
      groups.find(({ key }: { key: string }) => key === item?.product_id)
    assert.deepEqual([find(three).gross_cents, find(three).discount_cents], [999, 100])
    assert.equal(find(three).refund_cents, 0)
    // Two orders of the same product, and the refund of one unit at 90 %.
    assert.equal(find(two).gross_cents, 6_000)
    assert.equal(find(two).refund_cents, 900 + 2_000)
    assert.equal(find(two).label, 'Worth 1000')
  })

  test('show one group alone by its key', async () => {
    const body = await read(`sales?${QUARTER}&group_by=coupon&key=TEN&interval=month`)
    assert.deepEqual(
      body.buckets.map((bucket: Flat) => bucket.gross_cents),
      [2_999, 0, 0],
    )
    assert.equal(body.groups.length, 1)
    assert.equal(
      await sumRows(shop.merchant, body.figures.net_cents.drilldown.href),
      body.net_cents,
    )
    const none = await read(`sales?${QUARTER}&group_by=coupon&key=NOBODY`)
    assert.deepEqual([none.gross_cents, none.groups], [0, []])
  })

  test('group by the present collections, which may share products', async () => {
    const { collection } = ok(
      await shop.merchant.post('/v1/merchant/catalog/collections', { slug: 'all', title: 'All' }),
      201,
    )
    const product_ids = first.items.map(({ product_id }) => product_id)
    ok(
      await shop.merchant.put(`/v1/merchant/catalog/collections/${collection.id}/products`, {
        product_ids,
      }),
    )
    const { groups } = await read(`sales?${QUARTER}&group_by=collection`)
    assert.deepEqual(
      groups.map((each: { label: string }) => each.label),
      ['All'],
    )
    assert.equal(groups[0].gross_cents, 6_999)
    assert.equal(
      await sumRows(shop.merchant, `${groups[0].drilldown.href}&figure=gross_cents`),
      6_999,
    )
    const one = await read(`sales?${QUARTER}&group_by=collection&key=${collection.id}`)
    assert.equal(one.gross_cents, 6_999)
    assert.equal((await read(`sales?${QUARTER}&group_by=collection&key=garbage`)).gross_cents, 0)
  })

  test('compare with the previous period of the same length', async () => {
    const body = await read('summary?from=2026-02-01&to=2026-02-28&compare=previous')
    assert.deepEqual([body.previous.from, body.previous.to], ['2026-01-04', '2026-01-31'])
    assert.equal(body.previous.gross_cents, 4_999)
    assert.equal(body.figures.gross_cents.previous, 4_999)
    assert.equal((await read('summary?from=2026-02-01&to=2026-02-28')).previous, undefined)
  })

  test('tell new customers from returning ones, by month', async () => {
    const body = await read(`customers?${QUARTER}`)
    assert.deepEqual(
      [body.new_customers_count, body.repeat_customers_count, body.returning.orders_count],
      [3, 1, 1],
    )
    assert.equal(body.new.orders_count + body.returning.orders_count, body.orders_count)
    const [january, march] = body.cohorts
    assert.deepEqual([january.month, march.month], ['2026-01', '2026-03'])
    assert.deepEqual([january.new_customers_count, january.repeat_rate_bps], [2, 5_000])
    assert.deepEqual(
      january.months.map((each: Flat) => [each.month, each.active_customers_count]),
      [
        ['2026-01', 2],
        ['2026-02', 1],
      ],
    )
    assert.equal(january.lifetime_value_cents, Math.round((4_999 - 300 - 900 + 2_500) / 2))
    assert.equal(march.net_cents, 0)
    await assertDrilldowns(shop.merchant, body.figures)
    for (const kind of ['new', 'returning']) {
      const href = `${body[kind].drilldown.href}&figure=net_cents`
      assert.equal(await sumRows(shop.merchant, href), body[kind].net_cents, kind)
    }
  })

  test('list the rows of each cohort and of its months, however old', async () => {
    const old = await app.shopIn('old', 'America/New_York')
    for (const [time, customer_ref] of [
      ['2021-01-15T12:00:00Z', 'ann'],
      ['2021-01-20T12:00:00Z', 'bob'],
      ['2021-03-01T03:00:00Z', 'ann'],
      ['2026-04-02T12:00:00Z', 'ann'],
    ] as const) {
      app.setTime('old', time)
      const { order } = await app.place(old, { customer_ref })
      if (customer_ref === 'bob') {
        app.setTime('old', '2021-02-10T12:00:00Z')
        ok(await app.act(old, order.id, 'refunds', { amount_cents: 700 }), 201)
      }
    }
    await app.count()
    for (const calendar of ['booked', 'cohort']) {
      const query = `from=2021-01-01&to=2021-12-31&calendar=${calendar}`
      const { cohorts } = ok(await old.merchant.get(`${URL}/customers?${query}`))
      assert.equal(cohorts.length, 1)
      const [january] = cohorts
      assert.deepEqual([january.net_cents, january.orders_count], [8_000 - 700, 4])
      assert.equal(january.months.length, 3)
      for (const figure of FIGURE_NAMES) {
        const href = `${january.drilldown.href}&figure=${figure}`
        assert.equal(await sumRows(old.merchant, href), january[figure], `${calendar} ${figure}`)
      }
      for (const month of january.months) {
        for (const figure of ['net_cents', 'orders_count', 'active_customers_count']) {
          const href = `${month.drilldown.href}&figure=${figure}`
          assert.equal(await sumRows(old.merchant, href), month[figure], `${month.month} ${figure}`)
        }
      }
    }
  })

  test('are exported as CSV, by the path or by the Accept header', async () => {
    for (const path of [
      'summary',
      'sales',
      'customers',
      'tax',
      'payments',
      'subscriptions',
      'inventory',
      'funnel',
    ]) {
      const byPath = await shop.merchant.get(`${URL}/${path}.csv?${QUARTER}`)
      const accept = { accept: 'text/csv, */*' }
      const byHeader = await shop.merchant.send(
        'GET',
        `${URL}/${path}?${QUARTER}`,
        undefined,
        accept,
      )
      assert.equal(byPath.headers['content-type'], 'text/csv; charset=utf-8', path)
      assert.equal(byHeader.text, byPath.text, path)
    }
    const { text } = await shop.merchant.get(`${URL}/summary.csv?${QUARTER}&interval=month`)
    const [header, ...lines] = text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','))
    const at = header?.indexOf('"gross_cents"') ?? -1
    assert.deepEqual(
      lines.map((line) => line[at]),
      ['"4999"', '"2500"', '"2000"'],
    )
  })

  test("read a period in the store's time zone, and refuse an impossible one", async () => {
    const shown = async (query: string) => {
      const { from, to } = await read(`summary?${query}`)
      return [from, to]
    }
    assert.deepEqual(await shown(''), ['2026-03-04', '2026-04-02'])
    assert.deepEqual(await shown('from=1999-01-01&to=2026-04-02'), ['2023-04-03', '2026-04-02'])
    const other = await read(`summary?${QUARTER}&currency=EUR`)
    assert.deepEqual([other.currency, other.orders_count], ['EUR', 0])
    for (const query of [
      'from=2026-05-01&to=2026-04-01',
      'from=2026-02-30',
      'to=yesterday',
      'from=0001-01-01',
      'currency=nonsense',
    ]) {
      const { body } = await shop.merchant.get(`${URL}/summary?${query}`)
      assert.equal(body.error.code, 'validation_error', query)
    }
  })

  test('page their rows without losing one, and refuse cursors that they have not made', async () => {
    const href = `${URL}/rows?${QUARTER}&figure=orders_count`
    assert.equal((await rowsOf(shop.merchant, href, 1)).length, 4)
    assert.equal((await rowsOf(shop.merchant, href, 100)).length, 4)
    for (const path of [
      'rows',
      'payments/rows',
      'subscriptions/rows',
      'funnel/rows',
      'inventory',
    ]) {
      for (const after of ['garbage', 'WyIyMDI2LTAyLTMwIiwxXQ', 'W10']) {
        const answer = await shop.merchant.get(`${URL}/${path}?after=${after}`)
        assert.deepEqual([answer.status, answer.body.error?.code], [400, 'invalid_query'], path)
      }
    }
  })

  test('find the rows of a figure also behind many days whose amounts cancel out', async () => {
    const free = await app.shopIn('free', 'UTC')
    const coupon = { code: 'FREE', type: 'percent', percent_bps: 10_000 }
    ok(await free.merchant.post('/v1/merchant/marketing/coupons', coupon), 201)
    for (let day = 1; day <= 7; day++) {
      app.setTime('free', `2026-01-0${day}T12:00:00Z`)
      await app.place(free, day % 7 === 0 ? {} : { coupon_code: 'FREE' })
    }
    await app.count()
    const href = `${URL}/rows?from=2026-01-01&to=2026-01-09&figure=net_cents`
    for (const limit of [1, 100]) {
      const rows = await rowsOf(free.merchant, href, limit)
      assert.deepEqual(
        rows.map(({ day, amount_cents }) => [day, amount_cents]),
        [['2026-01-07', 2_000]],
      )
    }
    const gross = await rowsOf(free.merchant, href.replace('net_cents', 'gross_cents'), 3)
    assert.equal(gross.length, 7)
  })

  test('are empty for a store that has sold nothing', async () => {
    const empty = await app.merchant('empty')
    const body = ok(await empty.get(`${URL}/summary`))
    assert.deepEqual(
      [body.gross_cents, body.as_of, body.sealed_to, body.average_order_cents],
      [0, null, 0, null],
    )
    assert.equal(body.buckets.length, 30)
    for (const path of ['sales?group_by=product', 'customers', 'tax', 'payments', 'inventory']) {
      ok(await empty.get(`${URL}/${path}`))
    }
  })

  test('do not change when a customer is erased, nor when they are counted again afterwards', async () => {
    const before = await read(`tax?${QUARTER}`)
    const erase = (confirm?: string) =>
      shop.merchant.post(
        '/v1/my/privacy/erase',
        { customer_ref: 'ann', ...(confirm && { confirm }) },
        keyed(),
      )
    const asked = await erase()
    const done = await erase(asked.body.confirm)
    assert.ok(done.status < 300, done.text)
    await rebuild(app.runtime.workerDatabase.tenant('acme'))
    await app.count()
    const after = await read(`tax?${QUARTER}`)
    assert.deepEqual(figuresOf(after), figuresOf(before))
    assert.deepEqual(after.groups, before.groups)
    assert.equal((await read(`customers?${QUARTER}`)).new_customers_count, 3)
  })

  test('count a day again that gets a fact after it was final', async () => {
    const late = await app.shopIn('late', 'UTC')
    app.setTime('late', '2026-05-01T12:00:00Z')
    await app.place(late)
    app.setTime('late', '2026-05-05T12:00:00Z')
    await app.count()
    const was = ok(await late.merchant.get(`${URL}/summary?from=2026-05-01&to=2026-05-05`))
    assert.deepEqual([was.restated_from, was.final_until], [null, '2026-05-04'])
    app.setTime('late', '2026-05-02T12:00:00Z')
    await app.place(late)
    app.setTime('late', '2026-05-06T12:00:00Z')
    await app.count()
    const is = ok(await late.merchant.get(`${URL}/summary?from=2026-05-01&to=2026-05-05`))
    assert.deepEqual([is.restated_from, is.orders_count], ['2026-05-02', 2])
    assert.ok(is.restated_at.startsWith('2026-05-06'))
    // Only here a clock goes back: the attempt of that order is earlier than the counted ones.
    await rebuild(app.runtime.workerDatabase.tenant('late'))
  })
})
