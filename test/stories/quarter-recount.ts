import assert from 'node:assert/strict'
import type pg from 'pg'
import { assertDrilldowns, ok, type TimedApp, URL } from '../modules/analytics/setup.ts'
import type { Shop } from '../modules/checkout/setup.ts'

/** The figures of the quarter, counted without the module that is tested. */

const QUARTER = { from: '2026-10-01', to: '2026-12-31' }
const PERIOD = `from=${QUARTER.from}&to=${QUARTER.to}`

/** A change of a line of an order that the merchant saw on a day. */
export interface Seen {
  order_id: string
  day: string
  product_id: string
  variant_id: string
  gross_cents: number
  units_count: number
  /** The markdown, by the list price that the test has set. */
  markdown_cents: number
}

export interface RawJournal {
  order_id: string
  customer: string
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
export async function readJournals(superuser: pg.Client, tenant: string): Promise<RawJournal[]> {
  const { rows } = await superuser.query(
    `select o.id as order_id, o.customer_ref as customer, j.kind, (j.created_at at time zone s.time_zone)::date::text as day,
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

const pick = (body: Record<string, unknown>, like: object) =>
  Object.fromEntries(Object.keys(like).map((name) => [name, body[name]]))

const inPeriod = (day: string) => day >= QUARTER.from && day <= QUARTER.to

/** Compares every figure of the reports about sales with the journals. */
export async function assertSales({ merchant }: Shop, journals: RawJournal[]): Promise<void> {
  for (const calendar of ['booked', 'cohort'] as const) {
    const dayOf = ({ day, sale_day }: RawJournal) => (calendar === 'booked' ? day : sale_day)
    const own = journals.filter((journal) => inPeriod(dayOf(journal)))
    const summary = ok(await merchant.get(`${URL}/summary?${PERIOD}&calendar=${calendar}`))
    const expectedOfAll = recount(own)
    assert.deepEqual(pick(summary, expectedOfAll), expectedOfAll, calendar)
    const { gross_cents, discount_cents, orders_count } = expectedOfAll
    assert.equal(
      summary.average_order_cents,
      Math.round((gross_cents - discount_cents) / orders_count),
    )
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

/** The sums of the changes that the merchant saw, to be compared by day, by product and by variant. */
const ofLines = (seen: Seen[]) => ({
  gross_cents: seen.reduce((sum, each) => sum + each.gross_cents, 0),
  units_count: seen.reduce((sum, each) => sum + each.units_count, 0),
  markdown_cents: seen.reduce((sum, each) => sum + each.markdown_cents, 0),
})

export async function assertLines(
  { merchant }: Shop,
  all: Seen[],
  collection: { id: string; product_ids: string[] },
): Promise<void> {
  const seen = all.filter(({ day }) => inPeriod(day))
  const summary = ok(await merchant.get(`${URL}/summary?${PERIOD}`))
  assert.deepEqual(pick(summary, ofLines(seen)), ofLines(seen))
  assert.ok(summary.markdown_cents > 0)
  for (const bucket of summary.buckets) {
    const ofDay = ofLines(seen.filter(({ day }) => day === bucket.from))
    assert.deepEqual(pick(bucket, ofDay), ofDay, bucket.from)
  }
  for (const by of ['product', 'variant'] as const) {
    const idOf = (each: Seen) => each[`${by}_id`]
    const { groups } = ok(await merchant.get(`${URL}/sales?${PERIOD}&group_by=${by}`))
    for (const id of new Set(seen.map(idOf))) {
      const group = groups.find(({ key }: { key: string }) => key === id)
      const expected = ofLines(seen.filter((each) => idOf(each) === id))
      assert.deepEqual(pick(group, expected), expected, `${by} ${id}`)
    }
  }
  for (const day of new Set(seen.map((each) => each.day))) {
    const query = `from=${day}&to=${day}&group_by=product`
    const { groups } = ok(await merchant.get(`${URL}/sales?${query}`))
    const ofDay = seen.filter((each) => each.day === day)
    for (const id of new Set(ofDay.map(({ product_id }) => product_id))) {
      const group = groups.find(({ key }: { key: string }) => key === id)
      const { gross_cents } = ofLines(ofDay.filter(({ product_id }) => product_id === id))
      assert.equal(group?.gross_cents ?? 0, gross_cents, `${day} ${id}`)
    }
  }
  const { groups } = ok(await merchant.get(`${URL}/sales?${PERIOD}&group_by=collection`))
  const some = ofLines(seen.filter((each) => collection.product_ids.includes(each.product_id)))
  assert.deepEqual(
    groups.map((group: Record<string, number>) => [group.key, pick(group, some)]),
    [[collection.id, some]],
  )
}

/** Compares which customers came back, and what they were worth, with the journals of each person's orders. */
export async function assertCohorts({ merchant }: Shop, journals: RawJournal[]): Promise<void> {
  const placed = journals.filter(({ kind }) => kind === 'order.placed')
  const monthOf = (day: string) => day.slice(0, 7)
  const cohorts = new Map<string, string>()
  for (const { customer, day } of placed.toSorted((a, b) => (a.day < b.day ? -1 : 1))) {
    if (!cohorts.has(customer)) cohorts.set(customer, monthOf(day))
  }
  const people = (of: RawJournal[]) => new Set(of.map(({ customer }) => customer)).size
  const expected = [...new Set(cohorts.values())].toSorted().map((month) => {
    const own = journals.filter(({ customer }) => cohorts.get(customer) === month)
    const orders = own.filter(({ kind }) => kind === 'order.placed')
    const again = [...Map.groupBy(orders, ({ customer }) => customer).values()]
    const repeated = again.filter(({ length }) => length > 1).length
    const { net_cents } = recount(own)
    return {
      month,
      net_cents,
      new_customers_count: people(orders),
      repeat_customers_count: repeated,
      repeat_rate_bps: Math.round((repeated * 10_000) / people(orders)),
      lifetime_value_cents: Math.round(net_cents / people(orders)),
      months: [...new Set(own.map(({ day }) => monthOf(day)))].toSorted().map((each) => {
        const ofMonth = own.filter(({ day }) => monthOf(day) === each)
        const sold = ofMonth.filter(({ kind }) => kind === 'order.placed')
        return {
          month: each,
          active_customers_count: people(sold),
          orders_count: sold.length,
          net_cents: recount(ofMonth).net_cents,
        }
      }),
    }
  })
  const body = ok(await merchant.get(`${URL}/customers?${PERIOD}`))
  assert.deepEqual(
    body.cohorts.map((cohort: { months: Record<string, unknown>[] }) => ({
      ...pick(cohort, expected[0] ?? {}),
      months: cohort.months.map(({ drilldown: _, ...month }) => month),
    })),
    expected,
  )
  assert.ok(expected.some(({ repeat_rate_bps }) => repeat_rate_bps > 0))
}

/** Checks three subscriptions at 800: of two units, of one whose November was recovered, and one that ended. */
export async function assertSubscriptions({ merchant }: Shop): Promise<void> {
  const quarter = ok(await merchant.get(`${URL}/subscriptions?${PERIOD}`))
  const { active_count, past_due_count, mrr_cents, started_count, churned_count } = quarter
  assert.deepEqual(
    { active_count, past_due_count, mrr_cents, started_count, churned_count },
    { active_count: 2, past_due_count: 0, mrr_cents: 3 * 800, started_count: 3, churned_count: 1 },
  )
  assert.deepEqual([quarter.recovered_count, quarter.churn_bps], [1, null])
  await assertDrilldowns(merchant, quarter.figures, 20)
  const november = 'from=2026-11-01&to=2026-11-30'
  const body = ok(await merchant.get(`${URL}/subscriptions?${november}`))
  assert.deepEqual([body.started_count, body.churn_bps], [0, Math.round(10_000 / 3)])
}

/** Checks that four of a hundred units were sold, and two came back; and what shoppers did in a night. */
export async function assertInventoryAndFunnel(
  { merchant }: Shop,
  of: {
    journals: RawJournal[]
    stocked: { variant_id: string; order_id: string }
    viewed: { day: string; view: number; begin_checkout: number }
  },
): Promise<void> {
  const { journals, stocked, viewed } = of
  const { variants } = ok(await merchant.get(`${URL}/inventory?${PERIOD}`))
  const { variant_id, on_hand, units_count, net_cents, ...rates } = variants[0]
  const { net_cents: net } = recount(journals.filter((each) => each.order_id === stocked.order_id))
  assert.equal(variants.length, 1)
  assert.deepEqual([variant_id, on_hand, units_count, net_cents], [stocked.variant_id, 98, 4, net])
  assert.deepEqual(
    [rates.sell_through_bps, rates.days_of_cover, rates.margin_bps],
    [Math.round(40_000 / 102), Math.floor((98 * 92) / 4), null],
  )
  const funnel = ok(await merchant.get(`${URL}/funnel?${PERIOD}`))
  const orders = recount(journals.filter(({ day }) => inPeriod(day))).orders_count
  assert.deepEqual([funnel.view, funnel.begin_checkout, funnel.paid], [2, 1, orders])
  const night = funnel.buckets.find(({ day }: { day: string }) => day === viewed.day)
  assert.deepEqual([night.view, night.begin_checkout], [viewed.view, viewed.begin_checkout])
}

/** Compares new customers, second orders and payments with orders and attempts. */
export async function assertPeopleAndPayments(
  app: TimedApp,
  { merchant, tenant }: Shop,
): Promise<void> {
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
      where a.tenant_ref = $1 and a.kind in ('checkout', 'edit', 'release', 'renewal') and not o.is_test
        and (a.created_at at time zone s.time_zone)::date between $2 and $3`,
    [tenant, QUARTER.from, QUARTER.to],
  )
  const paid = ok(await merchant.get(`${URL}/payments?${PERIOD}`))
  assert.deepEqual(
    { approved: paid.approved_count, declined: paid.declined_count },
    attempts.rows[0],
  )
  // One at the checkout, and two of a renewal.
  assert.equal(paid.declined_count, 3)
  await assertDrilldowns(merchant, paid.figures, 20)
}
