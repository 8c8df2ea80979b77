import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import {
  assertDrilldowns,
  ok,
  openTimedApp,
  type TimedApp,
  URL,
} from '../modules/analytics/setup.ts'
import { ALL_OPTIONS, addVariant, DECLINED, type Shop, stock } from '../modules/checkout/setup.ts'
import { keyed } from '../modules/orders/setup.ts'

/**
 * A quarter of two stores, in which everything happens that changes a figure. Then every figure is
 * recounted here, from the rows of orders, journals and attempts, with the days of PostgreSQL's own
 * zones. Nothing of the module that is tested is used for it.
 */

const QUARTER = { from: '2026-10-01', to: '2026-12-31' }
const PERIOD = `from=${QUARTER.from}&to=${QUARTER.to}`
const FLAT = { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 }

const address = (country: string, state: string) => ({
  label: 'home',
  line1: '1 Main St',
  city: 'X',
  state,
  postal_code: '1',
  country,
})

interface Line {
  id: string
  product_id: string
  line_total_cents: number
  discount_cents: number
  tax_cents: number
}

/** What the test has seen happen to products: day, product, and by how much gross sales changed. */
interface Seen {
  day: string
  product_id: string
  gross_cents: number
}

/** Runs the quarter of one store. Answers what it has seen of its lines, from the API. */
async function liveThrough(app: TimedApp, tenant: string, time_zone: string, inside: boolean) {
  const { superuser } = app
  app.setTime(tenant, '2026-09-20T12:00:00Z')
  const shop = await app.shopIn(tenant, time_zone)
  const { merchant, variants } = shop
  const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax: inside } }
  ok(await merchant.put('/v1/my/store/manifest', { manifest }))
  const coupon = { code: 'FALL', type: 'percent', percent_bps: 1_500 }
  ok(await merchant.post('/v1/merchant/marketing/coupons', coupon), 201)
  const counted = await addVariant(merchant, 1_999)
  await stock(merchant, counted, 100)
  const seen: Seen[] = []
  const lines = new Map<string, Line[]>()
  const grossOf = (line: Line | undefined) =>
    line === undefined
      ? 0
      : line.line_total_cents -
        (inside ? Math.min(line.tax_cents, line.line_total_cents - line.discount_cents) : 0)
  let day = ''
  const at = async (time: string) => {
    app.setTime(tenant, time)
    const { rows } = await superuser.query(
      `select ($1::timestamptz at time zone $2)::date::text as day`,
      [time, time_zone],
    )
    day = rows[0].day
  }
  /** Reads the lines of an order, and remembers what changed since. */
  const look = async (order_id: string) => {
    const { items } = ok(await merchant.get(`/v1/merchant/orders/${order_id}`))
    for (const item of items as Line[]) {
      const before = lines.get(order_id)?.find(({ id }) => id === item.id)
      const gross_cents = grossOf(item) - grossOf(before)
      if (gross_cents !== 0) seen.push({ day, product_id: item.product_id, gross_cents })
    }
    lines.set(order_id, items)
  }
  const place = async (customer_ref: string, items: [number | string, number][], more = {}) => {
    const body = await app.place(shop, {
      customer_ref,
      items: items.map(([of, quantity]) => ({
        variant_id: typeof of === 'string' ? of : variants[of],
        quantity,
      })),
      tax: { provider: 'flat_rate', rate_bps: 1_900 },
      shipping: FLAT,
      ...more,
    })
    await look(body.order.id)
    return body as { order: { id: string }; items: Line[] }
  }
  const act = async (id: string, verb: string, body: object) => {
    const answer = await app.act(shop, id, verb, body)
    assert.ok(answer.status < 300, answer.text)
    await look(id)
  }
  const operate = async (id: string, verb: string, body: object) =>
    ok(await app.operator.post(`/v1/stores/${tenant}/orders/${id}/${verb}`, body))

  await at('2026-10-02T08:00:00Z')
  const first = await place(
    'ann',
    [
      [1_000, 3],
      [333, 2],
    ],
    {
      coupon_code: 'FALL',
      shipping_address: address('US', 'CA'),
    },
  )
  await at('2026-10-10T22:30:00Z')
  const second = await place('bob', [[2_500, 1]], {
    referral_code: 'FRIEND',
    shipping_address: address('DE', ''),
  })
  await at('2026-10-12T09:00:00Z')
  await act(first.order.id, 'edit', {
    edits: [
      { order_item_id: first.items[0]?.id, quantity: 1 },
      { order_item_id: first.items[1]?.id, quantity: 5 },
    ],
  })
  // The night in which the clocks of Berlin go back: before, twice in, and after it.
  for (const time of [
    '2026-10-24T21:59:00Z',
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:30:00Z',
    '2026-10-25T23:30:00Z',
  ]) {
    await at(time)
    await place(`night ${time}`, [[333, 1]])
  }
  await act(second.order.id, 'refunds', { amount_cents: 777 })
  // And that of New York, a week later.
  for (const time of [
    '2026-11-01T03:59:00Z',
    '2026-11-01T05:30:00Z',
    '2026-11-01T06:30:00Z',
    '2026-11-02T04:30:00Z',
  ]) {
    await at(time)
    await place('ann', [[1_000, 1]], { coupon_code: 'FALL' })
  }
  await at('2026-11-05T10:00:00Z')
  const returned = await place('carl', [[counted, 4]], { shipping_address: address('us', 'ny') })
  const packed = ok(
    await merchant.post(`/v1/merchant/orders/${returned.order.id}/fulfillments`),
    201,
  )
  for (const { id } of packed.fulfillments)
    ok(await merchant.post(`/v1/merchant/fulfillments/${id}/ship`))
  const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
  ok(await merchant.post('/v1/merchant/fraud/bans', ban), 201)
  const card = await app.place(shop, { customer_ref: 'ida', email: 'review@example.com' })
  assert.equal(card.order.status, 'on_hold')
  await at('2026-11-12T10:00:00Z')
  // Captured a week after it was ordered: a sale of this day.
  await act(card.order.id, 'release', {})
  await at('2026-11-20T10:00:00Z')
  const wanted = {
    order_id: returned.order.id,
    lines: [{ order_item_id: returned.items[0]?.id, quantity: 2 }],
  }
  const made = ok(await merchant.post('/v1/merchant/returns', wanted), 201).return
  await at('2026-11-30T23:30:00Z')
  const receipt = {
    lines: [{ return_line_id: made.lines[0].id, received_quantity: 2, disposition: 'restock' }],
    refund: { method: 'original', restocking_fee_cents: 100 },
  }
  ok(await merchant.post(`/v1/merchant/returns/${made.id}/receive`, receipt, keyed()))
  await at('2026-12-01T08:00:00Z')
  const disputed = await place('dora', [[2_500, 2]])
  const twice = await place('emil', [[1_000, 1]])
  await act(twice.order.id, 'refunds', {})
  await at('2026-12-15T08:00:00Z')
  await operate(disputed.order.id, 'dispute', { outcome: 'opened' })
  await operate(disputed.order.id, 'dispute', { outcome: 'lost' })
  await operate(twice.order.id, 'dispute', { outcome: 'opened' })
  await operate(twice.order.id, 'dispute', { outcome: 'lost', amount_cents: 600 })
  const partly = await place('fred', [[1_000, 3]])
  const one = [{ order_item_id: partly.items[0]?.id, quantity: 1 }]
  const parcel = ok(
    await merchant.post(`/v1/merchant/orders/${partly.order.id}/fulfillments`, { items: one }),
    201,
  )
  for (const { id } of parcel.fulfillments)
    ok(await merchant.post(`/v1/merchant/fulfillments/${id}/ship`))
  await at('2026-12-18T08:00:00Z')
  await act(partly.order.id, 'cancel-remaining', { reason: 'inventory' })
  const cancelled = await place('gina', [[333, 3]])
  const tested = await place('merchant', [[2_500, 9]])
  await operate(tested.order.id, 'test-flag', { is_test: true })
  await at('2026-12-31T22:30:00Z')
  await act(cancelled.order.id, 'cancel', { reason: 'customer' })
  const items = [{ variant_id: variants[333], quantity: 1 }]
  const declined = { customer_ref: 'hank', items, card: DECLINED }
  const answer = await app.storefront.post(`/v1/tenants/${tenant}/checkout`, declined, keyed())
  assert.equal(answer.status, 402)
  await place('bob', [[333, 1]], { shipping_address: address('DE', '') })
  await at('2027-01-04T12:00:00Z')
  await app.count()
  const tests = [tested.order.id]
  const real = seen.filter(({ product_id, gross_cents, day: on }) => {
    const flagged = (lines.get(tests[0] ?? '') ?? []).some(
      (line) => line.product_id === product_id && grossOf(line) === gross_cents,
    )
    return !(flagged && on.startsWith('2026-12-18'))
  })
  return { shop, seen: real }
}

interface RawJournal {
  order_id: string
  kind: string
  day: string
  sale_day: string
  coupon: string
  affiliate: string
  source: string
  place: string
  amounts: Record<string, number>
}

/** Every journal of a real order, with its days by PostgreSQL. */
async function readJournals(superuser: pg.Client, tenant: string): Promise<RawJournal[]> {
  const { rows } = await superuser.query(
    `select o.id as order_id, j.kind, (j.created_at at time zone s.time_zone)::date::text as day,
            (o.placed_at at time zone s.time_zone)::date::text as sale_day,
            coalesce(o.coupon_code, '') as coupon, coalesce(o.referral_code, '') as affiliate, o.source,
            coalesce(upper(concat_ws('-', o.ship_to ->> 'country', nullif(o.ship_to ->> 'state', ''))), '')
              as place,
            (select jsonb_object_agg(account, cents)
               from (select account, sum(amount_cents) as cents from ledger_entries e
                      where e.tenant_ref = j.tenant_ref and e.journal_id = j.id group by account) as sums)
              as amounts
       from ledger_journals j
       join orders o on o.tenant_ref = j.tenant_ref and o.id = j.order_id
       join stores s on s.tenant_ref = j.tenant_ref
      where j.tenant_ref = $1 and not o.is_test
      order by j.created_at, j.id`,
    [tenant],
  )
  return rows
}

/** The figures of some journals, in the words of the definitions. */
function recount(journals: RawJournal[]) {
  const sum = (account: string, only: (kind: string) => boolean = () => true) =>
    journals
      .filter(({ kind }) => only(kind))
      .reduce((total, { amounts }) => total + (amounts[account] ?? 0), 0)
  const isRefund = (kind: string) => kind === 'order.refunded'
  const isSale = (kind: string) => !isRefund(kind)
  const gross_cents = 0 - sum('sales')
  const discount_cents = sum('discount')
  const refund_cents = sum('refund')
  return {
    gross_cents,
    discount_cents,
    refund_cents,
    net_cents: gross_cents - discount_cents - refund_cents,
    tax_cents: 0 - sum('tax_payable', isSale),
    refunded_tax_cents: sum('tax_payable', isRefund),
    shipping_cents: 0 - sum('shipping_income', isSale),
    refunded_shipping_cents: sum('shipping_income', isRefund),
    dispute_loss_cents: sum('dispute_loss'),
    orders_count: journals.filter(({ kind }) => kind === 'order.placed').length,
  }
}
type Recounted = ReturnType<typeof recount>

const pick = (body: Record<string, number>, like: Recounted) =>
  Object.fromEntries(Object.keys(like).map((name) => [name, body[name]]))

const inPeriod = (day: string) => day >= QUARTER.from && day <= QUARTER.to

/** Every figure of the reports about sales, against the journals. */
async function assertSales({ merchant }: Shop, journals: RawJournal[]): Promise<void> {
  for (const calendar of ['booked', 'cohort'] as const) {
    const dayOf = ({ day, sale_day }: RawJournal) => (calendar === 'booked' ? day : sale_day)
    const own = journals.filter((journal) => inPeriod(dayOf(journal)))
    const summary = ok(await merchant.get(`${URL}/summary?${PERIOD}&calendar=${calendar}`))
    assert.deepEqual(pick(summary, recount(own)), recount(own), calendar)
    await assertDrilldowns(merchant, summary.figures, 20)
    assert.equal(summary.buckets.length, 92)
    for (const bucket of summary.buckets) {
      const ofDay = recount(own.filter((journal) => dayOf(journal) === bucket.from))
      assert.deepEqual(pick(bucket, ofDay), ofDay, `${calendar} ${bucket.from}`)
    }
    const reports = [
      ['coupon', 'sales?group_by=coupon&'],
      ['affiliate', 'sales?group_by=affiliate&'],
      ['source', 'sales?group_by=source&'],
      ['place', 'tax?'],
    ] as const
    for (const [name, path] of reports) {
      const { groups } = ok(await merchant.get(`${URL}/${path}${PERIOD}&calendar=${calendar}`))
      const keys = [...new Set(own.map((journal) => journal[name]))]
      assert.deepEqual(groups.map(({ key }: { key: string }) => key).toSorted(), keys.toSorted())
      for (const group of groups) {
        const expected = recount(own.filter((journal) => journal[name] === group.key))
        assert.deepEqual(pick(group, expected), expected, `${calendar} ${name} ${group.key}`)
      }
    }
  }
}

/** Gross sales of products, against what the API showed of their lines day by day. */
async function assertProducts({ merchant }: Shop, seen: Seen[]): Promise<void> {
  const days = [...new Set(seen.map(({ day }) => day))].filter(inPeriod)
  for (const day of days) {
    const query = `from=${day}&to=${day}&group_by=product`
    const { groups } = ok(await merchant.get(`${URL}/sales?${query}`))
    const products = new Set(seen.filter((each) => each.day === day).map((each) => each.product_id))
    for (const product of products) {
      const expected = seen
        .filter((each) => each.day === day && each.product_id === product)
        .reduce((sum, { gross_cents }) => sum + gross_cents, 0)
      const group = groups.find(({ key }: { key: string }) => key === product)
      assert.equal(group?.gross_cents ?? 0, expected, `${day} ${product}`)
    }
  }
}

/** New customers, second orders and payments, against orders and attempts. */
async function assertPeopleAndPayments(app: TimedApp, { merchant, tenant }: Shop): Promise<void> {
  const { rows } = await app.superuser.query(
    `with sold as (
       select o.*, row_number() over (partition by customer_ref order by placed_at) as nth,
              (placed_at at time zone s.time_zone)::date as day
         from orders o join stores s using (tenant_ref)
        where o.tenant_ref = $1 and o.placed_at is not null)
     select count(*) filter (where nth = 1)::int as new, count(*) filter (where nth = 2)::int as repeat,
            count(*) filter (where nth > 1)::int as returning,
            count(distinct (customer_ref, date_trunc('month', day)))::int as active
       from sold where not is_test and day between $2 and $3`,
    [tenant, QUARTER.from, QUARTER.to],
  )
  const body = ok(await merchant.get(`${URL}/customers?${PERIOD}`))
  assert.deepEqual(
    {
      new: body.new_customers_count,
      repeat: body.repeat_customers_count,
      returning: body.returning.orders_count,
      active: body.active_customers_count,
    },
    rows[0],
  )
  const attempts = await app.superuser.query(
    `select count(*) filter (where a.state = 'approved')::int as approved,
            count(*) filter (where a.state = 'declined')::int as declined
       from payment_attempts a
       join orders o on o.tenant_ref = a.tenant_ref and o.id = a.order_id
       join stores s on s.tenant_ref = a.tenant_ref
      where a.tenant_ref = $1 and a.kind in ('checkout', 'edit', 'release') and not o.is_test
        and (a.created_at at time zone s.time_zone)::date between $2 and $3`,
    [tenant, QUARTER.from, QUARTER.to],
  )
  const paid = ok(await merchant.get(`${URL}/payments?${PERIOD}`))
  assert.deepEqual(
    { approved: paid.approved_count, declined: paid.declined_count },
    attempts.rows[0],
  )
  assert.equal(paid.declined_count, 1)
  await assertDrilldowns(merchant, paid.figures, 20)
}

test('every figure of a quarter is that of a recount, in two zones whose clocks change', async (t) => {
  const app = await openTimedApp(t)
  const stores = [
    ['berlin', 'Europe/Berlin', true],
    ['new-york', 'America/New_York', false],
  ] as const
  for (const [tenant, zone, inside] of stores) {
    const { shop, seen } = await liveThrough(app, tenant, zone, inside)
    const journals = await readJournals(app.superuser, tenant)
    const kinds = new Set(journals.map(({ kind }) => kind))
    assert.deepEqual([...kinds].toSorted(), [
      'dispute.lost',
      'order.edited',
      'order.placed',
      'order.refunded',
    ])
    await assertSales(shop, journals)
    await assertProducts(shop, seen)
    await assertPeopleAndPayments(app, shop)
  }
  await app.check()
})
