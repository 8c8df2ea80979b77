import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { FIGURE_NAMES } from '../../../src/modules/analytics/definition-schema.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import { ALL_OPTIONS, addVariant, type Shop } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'
import { ok, shareTimedApp, type TimedApp, URL } from './setup.ts'

const shared = shareTimedApp()

/** Whole histories over HTTP are slow: few of them, each with many acts. */
const RUNS = 4

const FLAT = { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 }

/** The clocks of both zones change in these weeks: Berlin on the 25th, New York on the 1st. */
const START = Date.parse('2026-10-23T00:00:00Z')
const HOURS = 24 * 12

const acts = fc.oneof(
  fc.record({
    kind: fc.constant('place' as const),
    customer: fc.nat(2),
    quantities: fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 3 })),
    coupon: fc.boolean(),
    taxed: fc.boolean(),
    euro: fc.nat(5).map((n) => n === 0),
  }),
  fc.record({
    kind: fc.constantFrom('refund' as const, 'edit' as const),
    order: fc.nat(9),
    cents: fc.integer({ min: 1, max: 900 }),
    quantities: fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 })),
  }),
  fc.record({
    kind: fc.constantFrom('cancel' as const, 'dispute' as const, 'flag' as const, 'ship' as const),
    order: fc.nat(9),
    on: fc.boolean(),
  }),
  fc.record({ kind: fc.constantFrom('count' as const, 'rebuild' as const) }),
)

const histories = fc.record({
  isTaxInside: fc.boolean(),
  acts: fc.array(fc.record({ act: acts, hour: fc.nat(HOURS) }), { minLength: 14, maxLength: 22 }),
})

type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never

interface Placed {
  id: string
  items: { id: string }[]
}

/** Does one act. A refusal is an answer, too: a refused act counts for nothing. */
async function perform(
  app: TimedApp,
  shop: Shop & { euro: string },
  placed: Placed[],
  act: Act,
): Promise<void> {
  if (act.kind === 'count') return app.count()
  if (!('order' in act) && act.kind !== 'place') {
    await analytics.rebuild(app.runtime.workerDatabase.tenant(shop.tenant))
    return
  }
  if (act.kind === 'place') {
    const [first, second] = act.quantities
    const items = act.euro
      ? [{ variant_id: shop.euro, quantity: second }]
      : [
          ...(first > 0 ? [{ variant_id: shop.variants[333], quantity: first }] : []),
          { variant_id: shop.variants[1_000], quantity: second },
        ]
    const body = await app.place(shop, {
      customer_ref: `c${act.customer}`,
      items,
      shipping: FLAT,
      ...(act.coupon && { coupon_code: 'TEN' }),
      ...(act.taxed && { tax: { provider: 'flat_rate', rate_bps: 777 } }),
    })
    placed.push({ id: body.order.id, items: body.items })
    return
  }
  const order = placed[act.order % Math.max(1, placed.length)]
  if (order === undefined) return
  const { merchant, tenant } = shop
  const url = `/v1/merchant/orders/${order.id}`
  if ('cents' in act && act.kind === 'refund') {
    const item = { order_item_id: order.items[0]?.id, quantity: 1 }
    const body = act.cents % 2 === 0 ? { amount_cents: act.cents } : { items: [item] }
    await merchant.post(`${url}/refunds`, body, keyed())
  } else if ('cents' in act) {
    const edits = order.items.map(({ id }, at) => ({
      order_item_id: id,
      quantity: act.quantities[at] ?? 1,
    }))
    await merchant.post(`${url}/edit`, { edits }, keyed())
  } else if (act.kind === 'cancel') {
    await merchant.post(`${url}/cancel`, { reason: 'customer' }, keyed())
  } else if (act.kind === 'ship') {
    const item = { order_item_id: order.items[0]?.id, quantity: 1 }
    const packed = await merchant.post(`${url}/fulfillments`, { items: [item] })
    for (const { id } of packed.body.fulfillments ?? [])
      await merchant.post(`/v1/merchant/fulfillments/${id}/ship`)
    await merchant.post(`${url}/cancel-remaining`, { reason: 'inventory' }, keyed())
  } else if (act.kind === 'dispute') {
    const dispute = `/v1/stores/${tenant}/orders/${order.id}/dispute`
    await app.operator.post(dispute, { outcome: 'opened' })
    await app.operator.post(dispute, {
      outcome: 'lost',
      ...(act.on && { amount_cents: 400 }),
    })
  } else {
    const flag = `/v1/stores/${tenant}/orders/${order.id}/test-flag`
    ok(await app.operator.post(flag, { is_test: act.on }))
  }
}

describe('after any history', () => {
  let app: TimedApp
  before(() => {
    app = shared.current
  })

  test('the counted figures are those of a recount, in both zones and currencies', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(histories, async ({ isTaxInside, acts: all }) => {
        run++
        for (const zone of ['Europe/Berlin', 'America/New_York']) {
          const tenant = `${zone.split('/')[1]?.toLowerCase().replace('_', '-')}-${run}`
          app.setTime(tenant, new Date(START).toISOString())
          const shop = { ...(await app.shopIn(tenant, zone)), euro: '' }
          const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax: isTaxInside } }
          ok(await shop.merchant.put('/v1/my/store/manifest', { manifest }))
          shop.euro = await addVariant(shop.merchant, 700, {}, { currency: 'EUR' })
          const coupon = { code: 'TEN', type: 'percent', percent_bps: 1_000 }
          ok(await shop.merchant.post('/v1/merchant/marketing/coupons', coupon), 201)
          const placed: Placed[] = []
          for (const { act, hour } of all.toSorted((a, b) => a.hour - b.hour)) {
            app.setTime(tenant, new Date(START + hour * HOUR_MS + 1_800_000).toISOString())
            await perform(app, shop, placed, act)
          }
          await app.count()
          await assertSameAfterRebuild(app, shop)
        }
        await app.check()
      }),
      { numRuns: RUNS },
    )
    const { rows } = await app.superuser.query<{ kind: string }>(
      'select distinct kind from analytics_facts where not is_test',
    )
    const kinds = rows.map(({ kind }) => kind)
    for (const kind of ['order.placed', 'order.edited', 'order.refunded']) {
      assert.ok(kinds.includes(kind), `no history had ${kind}`)
    }
  })
})

async function assertSameAfterRebuild(app: TimedApp, { merchant, tenant }: Shop): Promise<void> {
  const read = async () =>
    Promise.all(
      ['booked', 'cohort'].flatMap((calendar) =>
        ['USD', 'EUR'].map(async (currency) => {
          const query = `from=2026-10-01&to=2026-11-30&calendar=${calendar}&currency=${currency}`
          const { buckets } = ok(await merchant.get(`${URL}/summary?${query}`))
          const { groups } = ok(await merchant.get(`${URL}/sales?${query}&group_by=variant`))
          const figures = (each: Record<string, unknown>) => FIGURE_NAMES.map((name) => each[name])
          // A group that is there with nothing in it is as good as none.
          const some = groups.filter((each: Record<string, number>) =>
            FIGURE_NAMES.some((name) => each[name] !== 0),
          )
          return [buckets.map(figures), some.map(figures)]
        }),
      ),
    )
  const before = await read()
  await analytics.rebuild(app.runtime.workerDatabase.tenant(tenant))
  await app.count()
  assert.deepEqual(await read(), before)
}
