import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { count } from '../../../src/modules/analytics/funnel.ts'
import type { Shop } from '../checkout/setup.ts'
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

const send = (tenant: string, body: unknown) =>
  app.storefront.post(`/v1/tenants/${tenant}/funnel`, body)

const productsOf = async ({ merchant }: Shop): Promise<string[]> =>
  ok(await merchant.get('/v1/merchant/catalog/products')).products.map(
    ({ id }: { id: string }) => id,
  )

describe('the funnel', () => {
  before(() => {
    app = shared.current
  })

  test("counts the shoppers' steps by the days of the store, and stores nothing else", async () => {
    const shop = await app.shopIn('acme', 'Asia/Tokyo')
    const [product = '', other = ''] = await productsOf(shop)
    // Late in the evening of UTC it is the next day in Tokyo.
    app.setTime('acme', '2026-08-01T20:00:00Z')
    const events = [
      { type: 'view', product_id: product, customer: 'ann', ip: '192.0.2.1' },
      { type: 'view', product_id: product.toUpperCase() },
      { type: 'view', product_id: other },
      { type: 'search' },
      { type: 'begin_checkout' },
    ]
    assert.deepEqual(ok(await send('acme', { events })), { accepted: 5 })
    ok(await send('acme', { events: [{ type: 'add_to_cart', product_id: product }] }))
    await app.place(shop)
    await app.count()
    const body = ok(await shop.merchant.get(`${URL}/funnel?from=2026-08-01&to=2026-08-02`))
    const { view, search, add_to_cart, begin_checkout, paid } = body
    assert.deepEqual([view, search, add_to_cart, begin_checkout, paid], [3, 1, 1, 1, 1])
    assert.deepEqual(
      body.buckets.map((each: { view: number }) => each.view),
      [0, 3],
    )
    await assertDrilldowns(shop.merchant, body.figures)
    for (const { drilldown, ...bucket } of body.buckets) {
      for (const type of ['view', 'search', 'add_to_cart', 'begin_checkout']) {
        const rows = await sumRows(shop.merchant, `${drilldown.href}&type=${type}`)
        assert.equal(rows, bucket[type], `${bucket.day} ${type}`)
      }
      assert.equal(await sumRows(shop.merchant, drilldown.paid_href), bucket.paid, bucket.day)
    }
    const rows = await rowsOf(shop.merchant, body.figures.view.drilldown.href, 1)
    assert.equal(rows.length, 2, 'one row for each product')
    const stored = await app.superuser.query(
      `select to_jsonb(f) as row from funnel_days f where tenant_ref = 'acme'`,
    )
    for (const { row } of stored.rows) {
      assert.deepEqual(Object.keys(row).toSorted(), [
        'count',
        'day',
        'product_id',
        'shard',
        'tenant_ref',
        'type',
      ])
    }
  })

  test('counts an unknown product as no product, so that the number of rows is bounded', async () => {
    const shop = await app.shopIn('bounded', 'UTC')
    const [foreign = ''] = await productsOf(await app.shopIn('foreign', 'UTC'))
    const unknown = '00000000-0000-4000-8000-0000000000'
    const events = [
      { type: 'view', product_id: foreign },
      ...Array.from({ length: 50 }, (_, n) => ({
        type: 'view',
        product_id: `${unknown}${String(n).padStart(2, '0')}`,
      })),
    ]
    ok(await send('bounded', { events }))
    const { rows } = await app.superuser.query(
      `select product_id, sum(count)::int as count from funnel_days
        where tenant_ref = 'bounded' group by 1 order by 1`,
    )
    assert.deepEqual(rows, [
      { product_id: '00000000-0000-0000-0000-000000000000', count: 51 },
      { product_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff', count: 51 },
    ])
    assert.equal(ok(await shop.merchant.get(`${URL}/funnel`)).view, 51)
  })

  test('loses no count of storefronts that send at the same time', async () => {
    const shop = await app.shopIn('crowded', 'UTC')
    const [one = '', two = ''] = await productsOf(shop)
    const events = [
      { type: 'view', product_id: one },
      { type: 'view', product_id: two },
      { type: 'search' },
    ]
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        send('crowded', { events: n % 2 === 0 ? events : events.toReversed() }),
      ),
    )
    assert.ok(answers.every(({ status }) => status === 200))
    const { view, search } = ok(await shop.merchant.get(`${URL}/funnel`))
    assert.deepEqual([view, search], [80, 40])
  })

  test('refuses unknown events, too many events, and an unknown store', async () => {
    await app.shopIn('strict', 'UTC')
    const view = { type: 'view' }
    for (const body of [
      {},
      { events: [] },
      { events: [{ type: 'paid' }] },
      { events: [{ type: 'view', product_id: 'x' }] },
      { events: Array.from({ length: 101 }, () => view) },
    ]) {
      const { status, body: answer } = await send('strict', body)
      assert.deepEqual([status, answer.error?.code], [400, 'invalid_body'])
    }
    const unknown = await send('nobody', { events: [view] })
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'unknown_tenant'])
    const anyone = await app.anyone.post('/v1/tenants/strict/funnel', { events: [view] })
    assert.equal(anyone.status, 401)
  })

  test('lets one store send no more than its share', async () => {
    await app.shopIn('flooding', 'UTC')
    const db = await app.store('flooding')
    const asked: unknown[] = []
    const limits = {
      velocity: async (...hit: unknown[]) => {
        asked.push(hit)
        return false
      },
    }
    const events = [{ type: 'search' as const }]
    await assert.rejects(count({ limits }, db, { events }), { code: 'rate_limited' })
    assert.deepEqual(asked, [['funnel:flooding', 600]])
    const { rowCount } = await app.superuser.query(
      `select from funnel_days where tenant_ref = 'flooding'`,
    )
    assert.equal(rowCount, 0)
  })
})
