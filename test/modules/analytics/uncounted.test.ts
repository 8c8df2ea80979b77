import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../../../src/kernel/time.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import type { Shop } from '../checkout/setup.ts'
import { assertDrilldowns, ok, shareTimedApp, type TimedApp, URL } from './setup.ts'

const shared = shareTimedApp()
let app: TimedApp

const open = () => {
  app = shared.current
}

/** Counts what there is now, also where nothing was sold since. */
async function countNow(): Promise<void> {
  await app.superuser.query(
    `update analytics_generations set due_at = now() where state <> 'retired'`,
  )
  await app.count()
}

const OPEN_STATES = ['begun', 'unknown', 'not_found'] as const
const END_STATES = ['approved', 'declined', 'error', 'voided'] as const
type State = (typeof OPEN_STATES)[number] | (typeof END_STATES)[number]

interface NewAttempt {
  tenant: string
  order_id: string
  at: string
  state: State
  kind?: string
  currency?: string
  cents?: number
}

async function attempt({ tenant, order_id, at, state, ...more }: NewAttempt): Promise<string> {
  const { kind = 'checkout', currency = 'USD', cents = 500 } = more
  const { rows } = await app.superuser.query(
    `insert into payment_attempts (tenant_ref, id, order_id, kind, gateway, amount_cents, currency, state,
                                   reason, created_at, closed_at, next_check_at)
     values ($1, fd_uuid(), $2, $3, 'simulated', $4, $5, $6,
             case when $6 = 'declined' then 'card_declined' end, $7,
             case when $6 not in ('begun', 'unknown') then $7::timestamptz end,
             case when $6 in ('begun', 'unknown') then $7::timestamptz end)
     returning id`,
    [tenant, order_id, kind, cents, currency, state, at],
  )
  return rows[0].id
}

const settle = (id: string, state: State) =>
  app.superuser.query(
    `update payment_attempts
        set state = $2, closed_at = coalesce(closed_at, created_at), next_check_at = null,
            reason = case when $2 = 'declined' then 'card_declined' end
      where id = $1`,
    [id, state],
  )

interface NewSubscription {
  tenant: string
  order_id: string
  at: string
  unit?: number
  interval?: string
  currency?: string
  status?: string
}

async function subscribe({ tenant, order_id, at, ...more }: NewSubscription): Promise<string> {
  const { unit = 1_000, interval = 'month', currency = 'USD', status = 'active' } = more
  const { rows } = await app.superuser.query(
    `insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id, quantity, interval,
                                interval_count, unit_price_cents, currency, status, origin_order_id,
                                anchor_on, current_period_start, created_at, updated_at, subscription_number)
     select $1, fd_uuid(), 'ann', i.product_id, i.variant_id, 1, $4, 1, $3, $5, $6, i.order_id, at::date, at, at,
            at, (select count(*) + 1 from subscriptions where tenant_ref = $1)
       from order_items i, cast($7 as timestamptz) as at
      where i.order_id = $2 limit 1
     returning id`,
    [tenant, order_id, unit, interval, currency, status, at],
  )
  return rows[0].id
}

/** The counts of a report from the rows, by a statement of its own. */
async function recountPayments(tenant: string, zone: string, currency: string, day: string) {
  const { rows } = await app.superuser.query(
    `select count(*)::int as attempts_count,
            count(*) filter (where state in ('approved', 'voided'))::int as approved_count,
            count(*) filter (where state = 'declined')::int as declined_count,
            count(*) filter (where state in ('error', 'not_found'))::int as failed_count,
            count(*) filter (where state in ('begun', 'unknown'))::int as open_count
       from payment_attempts a
       join orders o on o.tenant_ref = a.tenant_ref and o.id = a.order_id and not o.is_test
      where a.tenant_ref = $1 and a.currency = $3 and a.kind in ('checkout', 'release', 'edit', 'renewal', 'pay')
        and (a.created_at at time zone $2)::date = $4`,
    [tenant, zone, currency, day],
  )
  return rows[0]
}

async function recountSubscriptions(
  tenant: string,
  { zone, currency, from, to }: { zone: string; currency: string; from: string; to: string },
) {
  const { rows } = await app.superuser.query(
    `select count(*) filter (where status = 'active')::int as active_count,
            count(*) filter (where status = 'past_due')::int as past_due_count,
            coalesce(sum(round(unit_price_cents * case interval when 'month' then 1 else 30.4375 / 7 end))
                     filter (where status in ('active', 'past_due')), 0)::int as mrr_cents,
            count(*) filter (where day between $4 and $5)::int as started_count,
            count(*) filter (where ended_on between $4 and $5)::int as churned_count,
            count(*) filter (where day < $4 and (ended_on is null or ended_on >= $4))::int as running_before
       from (select *, (created_at at time zone $2)::date as day,
                    (case when status in ('cancelled', 'expired') then coalesce(cancelled_at, updated_at) end
                     at time zone $2)::date as ended_on
               from subscriptions where tenant_ref = $1 and currency = $3) as s`,
    [tenant, zone, currency, from, to],
  )
  const { running_before, ...counts } = rows[0]
  const churn_bps =
    running_before === 0 ? null : Math.round((counts.churned_count * 10_000) / running_before)
  return { ...counts, churn_bps }
}

/** Each history takes a second or two. */
const RUNS = process.env.LONG ? 40 : 6
const START = Date.parse('2026-10-23T00:00:00Z')
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

const acts = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({ kind: fc.constant('count' as const) }),
  fc.record({ kind: fc.constant('rebuild' as const) }),
  fc.record({
    kind: fc.constant('attempt' as const),
    order: fc.nat(2),
    state: fc.constantFrom(...OPEN_STATES, ...END_STATES),
    of: fc.constantFrom('checkout', 'renewal', 'pay', 'refund'),
    currency: fc.constantFrom('USD', 'USD', 'EUR'),
    minutes: fc.nat(4),
  }),
  fc.record({
    kind: fc.constant('settle' as const),
    one: fc.nat(20),
    state: fc.constantFrom(...END_STATES),
  }),
  fc.record({ kind: fc.constant('flag' as const), order: fc.nat(2), on: fc.boolean() }),
  fc.record({
    kind: fc.constant('subscribe' as const),
    unit: fc.integer({ min: 1, max: 5_000 }),
    interval: fc.constantFrom('month', 'week'),
    currency: fc.constantFrom('USD', 'USD', 'EUR'),
  }),
  fc.record({
    kind: fc.constant('change' as const),
    one: fc.nat(20),
    status: fc.constantFrom('active', 'paused', 'past_due', 'cancelled', 'expired'),
    unit: fc.integer({ min: 1, max: 5_000 }),
  }),
)
type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never

/** A store, and what a history has written into it. */
interface History {
  shop: Shop
  orders: string[]
  now: number
  attempts: { id: string; isOpen: boolean }[]
  subscriptions: string[]
}

async function perform(history: History, act: Act): Promise<void> {
  const { shop, orders, attempts, subscriptions } = history
  const { tenant } = shop
  const orderOf = (n: number) => orders[n % orders.length] ?? ''
  if (act.kind === 'wait') {
    history.now += act.minutes * 60_000
    app.setTime(tenant, new Date(history.now).toISOString())
  } else if (act.kind === 'count') {
    await countNow()
  } else if (act.kind === 'rebuild') {
    await analytics.rebuild(app.runtime.workerDatabase.tenant(tenant))
  } else if (act.kind === 'attempt') {
    const at = new Date(history.now - act.minutes * 60_000).toISOString()
    const { state, currency } = act
    const more = { state, currency, kind: act.of }
    const id = await attempt({ tenant, order_id: orderOf(act.order), at, ...more })
    attempts.push({ id, isOpen: OPEN_STATES.some((each) => each === state) })
  } else if (act.kind === 'settle') {
    const one = attempts.filter(({ isOpen }) => isOpen)[act.one]
    if (one === undefined) return
    await settle(one.id, act.state)
    one.isOpen = false
  } else if (act.kind === 'flag') {
    const flag = `/v1/stores/${tenant}/orders/${orderOf(act.order)}/test-flag`
    ok(await app.operator.post(flag, { is_test: act.on }))
  } else if (act.kind === 'subscribe') {
    const at = new Date(history.now).toISOString()
    const { unit, interval, currency } = act
    const row = { tenant, order_id: orderOf(0), at, unit, interval, currency }
    subscriptions.push(await subscribe(row))
  } else {
    const id = subscriptions[act.one % Math.max(1, subscriptions.length)]
    if (id === undefined) return
    await app.superuser.query(
      `update subscriptions
          set status = $2, unit_price_cents = $3, updated_at = $4,
              cancelled_at = case when $2 = 'cancelled' then $4::timestamptz end
        where id = $1`,
      [id, act.status, act.unit, new Date(history.now).toISOString()],
    )
  }
}

/** Fails unless both reports are what the rows say, and their own rows add up to them. */
async function assertExact({ shop, now }: History, zone: string): Promise<void> {
  const { merchant, tenant } = shop
  const [from, to] = [dayOf(START + DAY_MS), dayOf(now + DAY_MS)]
  for (const currency of ['USD', 'EUR']) {
    const query = `from=${from}&to=${to}&currency=${currency}`
    const paid = ok(await merchant.get(`${URL}/payments?${query}`))
    for (const { day, approval_rate_bps: _, drilldown: __, ...counts } of paid.buckets) {
      const expected = await recountPayments(tenant, zone, currency, day)
      assert.deepEqual(counts, expected, `${currency} ${day}`)
    }
    await assertDrilldowns(merchant, paid.figures, 7)
    const body = ok(await merchant.get(`${URL}/subscriptions?${query}`))
    const expected = await recountSubscriptions(tenant, { zone, currency, from, to })
    const read = Object.keys(expected).map((name) => [name, body[name]])
    assert.deepEqual(Object.fromEntries(read), expected, currency)
    await assertDrilldowns(merchant, body.figures, 3)
  }
}

describe('payments and subscriptions', () => {
  before(open)

  test('equal a count of their rows after any history, however much of it is counted already', async () => {
    let run = 0
    const histories = fc.array(acts, { minLength: 15, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(histories, async (all) => {
        run++
        // Midnight is neither that of UTC nor at a full hour.
        const zone = run % 2 === 0 ? 'Asia/Kolkata' : 'America/New_York'
        const tenant = `any-${run}`
        app.setTime(tenant, new Date(START).toISOString())
        const shop = await app.shopIn(tenant, zone)
        const orders: string[] = []
        for (let n = 0; n < 3; n++) orders.push((await app.place(shop)).order.id)
        await countNow()
        const history: History = { shop, orders, now: START, attempts: [], subscriptions: [] }
        await perform(history, { kind: 'wait', minutes: 60 })
        for (const act of all) await perform(history, act)
        await assertExact(history, zone)
        await perform(history, { kind: 'wait', minutes: 60 })
        await countNow()
        await assertExact(history, zone)
        await app.check()
      }),
      { numRuns: RUNS },
    )
  })

  test('are read from stored counts: only attempts of the last minutes are read one by one', async () => {
    const shop = await app.shopIn('counts', 'UTC')
    app.setTime('counts', '2026-06-02T12:00:00Z')
    const { order } = await app.place(shop)
    const where = { tenant: 'counts', order_id: order.id }
    const early = await attempt({ ...where, at: '2026-06-02T11:00:00Z', state: 'approved' })
    await attempt({ ...where, at: '2026-06-02T11:58:00Z', state: 'approved' })
    await countNow()
    const read = async () =>
      ok(await shop.merchant.get(`${URL}/payments?from=2026-06-02&to=2026-06-02`)).approved_count
    assert.equal(await read(), 3)
    // Behind the back of the platform: only those of the last minutes are missed.
    await app.superuser.query(
      `update payment_attempts set kind = 'refund' where tenant_ref = 'counts' and order_id = $1`,
      [order.id],
    )
    assert.equal(await read(), 1)
    await app.superuser.query(`update payment_attempts set kind = 'checkout' where id = $1`, [
      early,
    ])
    await analytics.rebuild(app.runtime.workerDatabase.tenant('counts'))
    await app.count()
  })

  test('count an attempt once, also if it ends while its time is counted', async () => {
    const shop = await app.shopIn('settling', 'UTC')
    app.setTime('settling', '2026-06-02T06:00:00Z')
    const { order } = await app.place(shop)
    await app.count()
    const ids: string[] = []
    for (let n = 0; n < 40; n++) {
      const at = `2026-06-02T07:00:${String(n).padStart(2, '0')}Z`
      ids.push(await attempt({ tenant: 'settling', order_id: order.id, at, state: 'unknown' }))
    }
    app.setTime('settling', '2026-06-02T08:00:00Z')
    const settling = (async () => {
      for (const id of ids) await settle(id, 'approved')
    })()
    await countNow()
    await settling
    const read = async () => {
      const body = ok(await shop.merchant.get(`${URL}/payments?from=2026-06-02&to=2026-06-02`))
      return [body.approved_count, body.open_count]
    }
    assert.deepEqual(await read(), [41, 0])
    app.setTime('settling', '2026-06-02T09:00:00Z')
    await countNow()
    assert.deepEqual(await read(), [41, 0])
    await app.check()
  })

  test('payments and subscriptions of a store that sold nothing for years are counted in one step', async () => {
    const shop = await app.shopIn('seldom', 'Europe/Berlin')
    app.setTime('seldom', '2023-06-02T06:00:00Z')
    const { order } = await app.place(shop)
    await app.count()
    const of = { tenant: 'seldom', order_id: order.id, state: 'approved' } as const
    // In Berlin it is the first of January by then.
    await attempt({ ...of, at: '2025-12-31T23:30:00Z' })
    await attempt({ ...of, at: '2026-01-01T12:00:00Z' })
    app.setTime('seldom', '2026-06-02T06:00:00Z')
    await app.superuser.query(`update analytics_generations set due_at = now()`)
    await analytics.stepOf(app.runtime.workerDatabase.tenant('seldom'))
    const { rows } = await app.superuser.query(
      `select payments_to from analytics_generations where tenant_ref = 'seldom'`,
    )
    assert.ok(rows[0].payments_to >= new Date('2026-06-02T05:50:00Z'))
    const read = async (day: string) =>
      ok(await shop.merchant.get(`${URL}/payments?from=${day}&to=${day}`)).approved_count
    const days = ['2023-06-02', '2025-12-31', '2026-01-01']
    assert.deepEqual(await Promise.all(days.map(read)), [1, 0, 2])
  })

  test('are final up to the first day that has an attempt without an outcome', async () => {
    const shop = await app.shopIn('waiting', 'Asia/Kolkata')
    app.setTime('waiting', '2026-06-02T06:00:00Z')
    const { order } = await app.place(shop)
    const where = { tenant: 'waiting', order_id: order.id, state: 'unknown' } as const
    // In Kolkata it is the 4th by then.
    const open = await attempt({ ...where, at: '2026-06-03T20:00:00Z' })
    const later = await attempt({ ...where, at: '2026-06-05T08:00:00Z' })
    await attempt({ ...where, at: '2026-06-03T04:00:00Z', currency: 'EUR' })
    app.setTime('waiting', '2026-06-08T08:00:00Z')
    await countNow()
    const period = 'from=2026-06-01&to=2026-06-08'
    const finals = async () => {
      const found: (string | null)[] = []
      for (const path of ['payments', 'subscriptions', 'inventory', 'funnel', 'summary']) {
        found.push(ok(await shop.merchant.get(`${URL}/${path}?${period}`)).final_until)
      }
      return found
    }
    const over = '2026-06-07'
    assert.deepEqual(await finals(), ['2026-06-03', '2026-06-03', over, over, over])
    await settle(open, 'approved')
    assert.deepEqual(await finals(), ['2026-06-04', '2026-06-04', over, over, over])
    // The gateway does not know it, and is asked no more.
    await settle(later, 'not_found')
    assert.deepEqual(await finals(), [over, over, over, over, over])
    const { final_until } = ok(await shop.merchant.get(`${URL}/payments?${period}&currency=EUR`))
    assert.equal(final_until, '2026-06-02')
  })

  test('count a subscription once, also if it changes while it is counted', async () => {
    const shop = await app.shopIn('changing', 'UTC')
    app.setTime('changing', '2026-06-02T06:00:00Z')
    const { order } = await app.place(shop)
    const ids: string[] = []
    for (let n = 0; n < 20; n++) {
      const at = `2026-06-01T07:00:${String(n).padStart(2, '0')}Z`
      ids.push(await subscribe({ tenant: 'changing', order_id: order.id, at, unit: 100 }))
    }
    let isChanging = true
    const counting = (async () => {
      while (isChanging) await countNow()
    })()
    for (const id of ids) {
      for (const status of ['paused', 'active', 'past_due']) {
        await app.superuser.query('update subscriptions set status = $2 where id = $1', [
          id,
          status,
        ])
      }
    }
    isChanging = false
    await counting
    const body = ok(await shop.merchant.get(`${URL}/subscriptions?from=2026-06-01&to=2026-06-01`))
    assert.deepEqual([body.past_due_count, body.active_count, body.mrr_cents], [20, 0, 2_000])
    await countNow()
    await app.check()
  })

  test('a renewal that does not change a subscription is not counted again', async () => {
    const shop = await app.shopIn('renewing', 'UTC')
    const { order } = await app.place(shop)
    const at = '2026-06-01T07:00:00Z'
    const id = await subscribe({ tenant: 'renewing', order_id: order.id, at })
    await countNow()
    await app.superuser.query(
      `update subscriptions set paid_cycles = 2, current_period_start = '2026-07-01', version = 2,
                                updated_at = '2026-07-01' where id = $1`,
      [id],
    )
    const { rows } = await app.superuser.query(
      `select count(*)::int as n from subscription_changes where tenant_ref = 'renewing'`,
    )
    assert.equal(rows[0].n, 0)
  })
})
