import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCheckout } from '../../src/modules/checkout/open.ts'
import { runDue } from '../../src/modules/renewals/jobs.ts'
import { ok, openTimedApp, type TimedApp } from '../modules/analytics/setup.ts'
import { ALL_OPTIONS, addVariant, DECLINED, enable, stock } from '../modules/checkout/setup.ts'
import { keyed } from '../modules/orders/setup.ts'
import { CARDS } from '../modules/renewals/setup.ts'
import {
  assertCohorts,
  assertInventoryAndFunnel,
  assertLines,
  assertPeopleAndPayments,
  assertSales,
  assertSubscriptions,
  readJournals,
  type Seen,
} from './quarter-recount.ts'

/**
 * A quarter of two stores, in which everything happens that changes a figure. Then every figure is
 * recounted in quarter-recount.ts, from the rows of orders, journals and attempts and from what the
 * merchant saw, with the days of PostgreSQL's own zones. Nothing of the module that is tested is used
 * for it.
 */

const FLAT = { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 }

const address = (country: string, state: string) => ({
  label: 'home',
  line1: '1 Main St',
  city: 'X',
  state,
  postal_code: '1',
  country,
})

interface Sums {
  line_total_cents: number
  discount_cents: number
  tax_cents: number
  shipping_cents: number
}

interface Line extends Sums {
  id: string
  product_id: string
  variant_id: string
  quantity: number
  unit_price_cents: number
}

/**
 * The prices of the lines of an order without the tax inside. That of the order is in its goods and in its shipping by
 * what they cost; its part in the shipping is divided like the shipping, by the largest remainders.
 */
function withoutTax(lines: readonly Line[]): number[] {
  const order = addUp(lines)
  const paid = order.line_total_cents - order.discount_cents + order.shipping_cents
  const inShipping = paid === 0 ? 0 : Math.floor((order.tax_cents * order.shipping_cents) / paid)
  const shares = lines.map(({ shipping_cents }, at) => {
    const exact = inShipping * shipping_cents
    const of = Math.max(1, order.shipping_cents)
    return { at, whole: Math.floor(exact / of), rest: exact % of }
  })
  const missing = inShipping - shares.reduce((sum, { whole }) => sum + whole, 0)
  const first = shares.toSorted((a, b) => b.rest - a.rest || a.at - b.at).slice(0, missing)
  return lines.map((line, at) => {
    const inside = (shares[at]?.whole ?? 0) + (first.some((each) => each.at === at) ? 1 : 0)
    return line.line_total_cents - (line.tax_cents - inside)
  })
}

function addUp(lines: readonly Line[]): Sums {
  const sum = (name: keyof Sums) => lines.reduce((total, line) => total + line[name], 0)
  return {
    line_total_cents: sum('line_total_cents'),
    discount_cents: sum('discount_cents'),
    tax_cents: sum('tax_cents'),
    shipping_cents: sum('shipping_cents'),
  }
}

/** Runs the quarter of one store. Returns the changes of its lines that the API has shown. */
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
  await enable(merchant, 'subscriptions', 'subscribe_and_save')
  const monthly = { is_subscription: true, subscription_interval: 'month' }
  const coffee = await addVariant(merchant, 1_000, { ...monthly, subscription_price_cents: 800 })
  const listPrices = new Map([
    ...Object.entries(variants).map(([price, id]) => [id, Number(price)] as const),
    [counted, 1_999],
    [coffee, 1_000],
  ])
  const seen: Seen[] = []
  const lines = new Map<string, Line[]>()
  const grossOf = (all: readonly Line[]) =>
    inside ? withoutTax(all) : all.map(({ line_total_cents }) => line_total_cents)
  let day = ''
  const at = async (time: string) => {
    app.setTime(tenant, time)
    const { rows } = await superuser.query(
      `select ($1::timestamptz at time zone $2)::date::text as day`,
      [time, time_zone],
    )
    day = rows[0].day
  }
  /** Reads the lines of an order, and records what has changed since the last time. */
  const look = async (order_id: string) => {
    const { items } = ok(await merchant.get(`/v1/merchant/orders/${order_id}`))
    const earlier = lines.get(order_id) ?? []
    const [was, is] = [grossOf(earlier), grossOf(items)]
    for (const [place, item] of (items as Line[]).entries()) {
      const at = earlier.findIndex(({ id }) => id === item.id)
      const before = earlier[at]
      const units_count = item.quantity - (before?.quantity ?? 0)
      const marked = (listPrices.get(item.variant_id) ?? 0) - item.unit_price_cents
      seen.push({
        order_id,
        day,
        product_id: item.product_id,
        variant_id: item.variant_id,
        gross_cents: (is[place] ?? 0) - (was[at] ?? 0),
        units_count,
        markdown_cents: marked * units_count,
      })
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
    return body as { order: { id: string }; items: Line[]; subscriptions?: { id: string }[] }
  }
  const act = async (id: string, verb: string, body: object) => {
    const answer = await app.act(shop, id, verb, body)
    assert.ok(answer.status < 300, answer.text)
    await look(id)
  }
  /** Runs the renewals that are due, and reads the orders that they have paid. */
  const renew = async (time: string) => {
    await at(time)
    await runDue(openCheckout(app.runtime), app.runtime.workerDatabase.tenant(tenant))
    const { rows } = await superuser.query(
      `select id from orders
        where tenant_ref = $1 and subscription_id is not null and placed_at is not null`,
      [tenant],
    )
    for (const { id } of rows) if (!lines.has(id)) await look(id)
  }
  const subscribe = async (customer_ref: string, quantity: number, card = CARDS.approved) => {
    const more = { subscribe: true, email: `${customer_ref}@x.example`, card }
    const to = address('US', 'CA')
    const body = await place(customer_ref, [[coffee, quantity]], { ...more, shipping_address: to })
    return body.subscriptions?.[0]?.id ?? ''
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
  await at('2026-10-05T10:00:00Z')
  await subscribe('sue', 2)
  await subscribe('tom', 1, CARDS.twiceDeclined)
  const ended = await subscribe('una', 1)
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
  const events = [{ type: 'view' }, { type: 'view' }, { type: 'begin_checkout' }]
  ok(await app.storefront.post(`/v1/tenants/${tenant}/funnel`, { events }))
  const viewed = { day, view: 2, begin_checkout: 1 }
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
  // Two are renewed. The card of the third declines twice, and is charged by the third attempt.
  for (const time of ['2026-11-05T18:00:00Z', '2026-11-07T18:00:00Z', '2026-11-10T18:00:00Z']) {
    await renew(time)
  }
  await at('2026-11-12T10:00:00Z')
  ok(await merchant.post(`/v1/merchant/subscriptions/${ended}/cancel`))
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
  await renew('2026-12-05T18:00:00Z')
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
  const collection = ok(
    await merchant.post('/v1/merchant/catalog/collections', { slug: 'some', title: 'Some' }),
    201,
  ).collection.id as string
  const sold = seen.map((each) => each.product_id).filter(Boolean)
  const product_ids = [...new Set(sold)].slice(0, 3)
  ok(await merchant.put(`/v1/merchant/catalog/collections/${collection}/products`, { product_ids }))
  return {
    shop,
    seen: seen.filter(({ order_id }) => order_id !== tested.order.id),
    collection: { id: collection, product_ids },
    stocked: { variant_id: counted, order_id: returned.order.id },
    viewed,
  }
}

test('every figure of a quarter equals a recount, in two zones whose clocks change', async (t) => {
  const app = await openTimedApp(t)
  const stores = [
    ['berlin', 'Europe/Berlin', true],
    ['new-york', 'America/New_York', false],
  ] as const
  for (const [tenant, zone, inside] of stores) {
    const { shop, seen, collection, stocked, viewed } = await liveThrough(app, tenant, zone, inside)
    const journals = await readJournals(app.superuser, tenant)
    const kinds = new Set(journals.map(({ kind }) => kind))
    assert.deepEqual([...kinds].toSorted(), [
      'dispute.lost',
      'order.edited',
      'order.placed',
      'order.refunded',
    ])
    await assertSales(shop, journals)
    await assertLines(shop, seen, collection)
    await assertPeopleAndPayments(app, shop)
    await assertCohorts(shop, journals)
    await assertSubscriptions(shop)
    await assertInventoryAndFunnel(shop, { journals, stocked, viewed })
  }
  await app.check()
})
