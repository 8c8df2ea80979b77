import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { advance } from '../../../src/modules/analytics/count.ts'
import { countingQueue } from '../../../src/modules/analytics/count-queries.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import { rebuildAnalytics } from '../../../src/rebuild-analytics.ts'
import { addVariant, checkout, DECLINED, type Shop } from '../checkout/setup.ts'
import { keyed } from '../orders/setup.ts'
import { countAtOnce, ok, shareTimedApp, type TimedApp, URL } from './setup.ts'

const shared = shareTimedApp()
let app: TimedApp

const chain = () => chainNewJournals(app.runtime.workerDatabase, { onLinks: countAtOnce })

const DAYS = `
  select calendar, dimension, currency, day::text, key, gross_cents, discount_cents, refund_cents,
         tax_cents, refunded_tax_cents, shipping_cents, refunded_shipping_cents, dispute_loss_cents,
         markdown_cents, orders_count, units_count, new_customers_count, repeat_customers_count,
         active_customers_count
    from analytics_days d
    join analytics_generations g using (tenant_ref, generation)
   where tenant_ref = $1 and g.state = 'serving'
   order by 1, 2, 3, 4, 5`

const daysOf = async (tenant: string) => (await app.superuser.query(DAYS, [tenant])).rows

const countFacts = async (tenant: string) =>
  Number(
    (
      await app.superuser.query('select count(*) from analytics_facts where tenant_ref = $1', [
        tenant,
      ])
    ).rows[0].count,
  )

/** In how many seconds the count of a store is due. */
const dueIn = async (tenant: string): Promise<number> =>
  (
    await app.superuser.query(
      `select extract(epoch from due_at - clock_timestamp())::float as seconds
         from analytics_generations where tenant_ref = $1`,
      [tenant],
    )
  ).rows[0].seconds

const summary = async ({ merchant }: Shop, query = '') =>
  ok(await merchant.get(`${URL}/summary?${query}`))

const generationsOf = async (tenant: string) =>
  (
    await app.superuser.query(
      `select generation, state, time_zone from analytics_generations
        where tenant_ref = $1 order by generation`,
      [tenant],
    )
  ).rows

/** Copies the row of an order so often, each a moment newer. */
async function repeatOrder(id: string, times: number): Promise<void> {
  const { rows } = await app.superuser.query(
    `select string_agg(column_name, ', ') as names from information_schema.columns
      where table_schema = 'public' and table_name = 'orders' and is_generated = 'NEVER'
        and column_name not in ('id', 'order_number', 'idempotency_key', 'created_at')`,
  )
  const { names } = rows[0]
  await app.superuser.query(
    `insert into orders (id, order_number, idempotency_key, created_at, ${names})
     select fd_uuid(), order_number + 1000 + n, idempotency_key || n, created_at + n * interval '1 ms', ${names}
       from orders, generate_series(1, $2::int) as n
      where id = $1`,
    [id, times],
  )
}

const open = () => {
  app = shared.current
}

describe('counting', () => {
  before(open)

  test('costs a checkout nothing: the checkout writes no row of the figures', async () => {
    const shop = await app.shopIn('free', 'UTC')
    await app.place(shop)
    for (const table of [
      'analytics_generations',
      'analytics_orders',
      'analytics_facts',
      'analytics_days',
      'analytics_payment_days',
      'analytics_open_attempts',
      'analytics_subscriptions',
      'subscription_changes',
      'order_line_changes',
    ]) {
      const { rows } = await app.superuser.query(
        `select count(*)::int as count from ${table} where tenant_ref = 'free'`,
      )
      assert.equal(rows[0].count, 0, table)
    }
  })

  test('begins at once for a new store, and waits for several journals from then on', async () => {
    const shop = await app.shopIn('gathering', 'UTC')
    const number = async () => {
      const { workerDatabase } = app.runtime
      while ((await chainNewJournals(workerDatabase, { onLinks: analytics.onNewLinks })) > 0);
      while ((await analytics.countNumbered(workerDatabase)) > 0);
    }
    await app.place(shop)
    await number()
    assert.equal(await countFacts('gathering'), 1)
    await app.place(shop)
    await number()
    const first = await dueIn('gathering')
    assert.ok(first > 0 && first <= 30, `${first}`)
    const version = async () =>
      (
        await app.superuser.query(
          `select xmin from analytics_generations where tenant_ref = 'gathering'`,
        )
      ).rows
    const before = await version()
    await app.place(shop)
    await number()
    assert.ok((await dueIn('gathering')) < first, 'the next ones do not put it off')
    assert.deepEqual(await version(), before, 'and write nothing, since it is due anyway')
    assert.equal(await countFacts('gathering'), 1)
    await app.place(shop)
    await app.count()
    assert.equal(await countFacts('gathering'), 4)
  })

  test('looks again soon if journals may be numbered while it ends, and otherwise rests', async () => {
    const shop = await app.shopIn('ending', 'UTC')
    await app.place(shop)
    while ((await chain()) > 0);
    const worker = app.runtime.workerDatabase.tenant('ending')
    const step = async () => {
      await worker.transaction('count at once', countAtOnce)
      const [lease] = await countingQueue.claim(worker, 1)
      assert.ok(lease)
      await worker.transaction('count', (tx) => advance(tx, lease))
    }
    await app.superuser.query('begin')
    await app.superuser.query(
      `select pg_advisory_xact_lock(hashtextextended('ending/ledger chain', 0))`,
    )
    await step()
    const beside = await dueIn('ending')
    assert.ok(beside > 0 && beside <= 30, `${beside}`)
    await app.superuser.query('commit')
    await step()
    assert.ok((await dueIn('ending')) > 3_000)
  })

  test('counts each journal once though workers are killed again and again', async () => {
    const shop = await app.shopIn('killed', 'UTC')
    const { order } = await app.place(shop)
    ok(await app.act(shop, order.id, 'refunds', { amount_cents: 700 }), 201)
    let placed = 1
    let kills = 0
    // On a quick machine ten rounds may all end before their kill.
    for (let round = 0; round < 10 || (kills === 0 && round < 200); round++) {
      await app.place(shop, { customer_ref: `c${round}` })
      placed++
      while ((await chain()) > 0);
      const counting = analytics.countNumbered(app.runtime.workerDatabase).catch(() => 0)
      await pause(round % 10)
      const { rowCount } = await app.superuser.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'fd_worker' and datname = current_database() and state <> 'idle'`,
      )
      kills += rowCount ?? 0
      await counting
      // As after the time of a lease.
      await app.superuser.query(
        `update analytics_generations set lease_until = null, due_at = now() where tenant_ref = 'killed'`,
      )
    }
    assert.ok(kills > 0, 'no worker was killed at work')
    await app.count()
    const { gross_cents, refund_cents, orders_count } = await summary(shop)
    assert.deepEqual([gross_cents, refund_cents, orders_count], [placed * 2_000, 700, placed])
    await app.check()
  })

  test('rolls back whole if a step fails after it has written', async () => {
    const shop = await app.shopIn('failing', 'UTC')
    await app.place(shop)
    while ((await chain()) > 0);
    const db = app.runtime.workerDatabase.tenant('failing')
    const [lease] = await countingQueue.claim(db, 1)
    assert.ok(lease)
    const failing = db.transaction('a step that fails', async (tx) => {
      assert.equal(await advance(tx, lease), 1)
      throw new Error('killed')
    })
    await assert.rejects(failing, /killed/)
    assert.equal(await countFacts('failing'), 0)
    const counted = await db.transaction('again', (tx) => advance(tx, lease))
    assert.equal(counted, 1)
    assert.equal(await countFacts('failing'), 1)
  })

  test('writes nothing for a worker whose lease another worker has', async () => {
    const shop = await app.shopIn('leased', 'UTC')
    await app.place(shop)
    while ((await chain()) > 0);
    const db = app.runtime.workerDatabase.tenant('leased')
    const [lease] = await countingQueue.claim(db, 1)
    assert.ok(lease)
    await app.superuser.query(
      `update analytics_generations set lease_token = fd_uuid() where tenant_ref = 'leased'`,
    )
    assert.equal(await db.transaction('late', (tx) => advance(tx, lease)), 0)
    assert.equal(await countFacts('leased'), 0)
  })

  test('counts once when four workers count while journals are numbered', async () => {
    const shop = await app.shopIn('busy', 'UTC')
    let isSelling = true
    const workers = [1, 2, 3, 4].map(async () => {
      while (isSelling) {
        await chain()
        await analytics.countNumbered(app.runtime.workerDatabase)
      }
    })
    for (let n = 0; n < 15; n++) await app.place(shop, { customer_ref: `c${n % 4}` })
    isSelling = false
    await Promise.all(workers)
    await app.count()
    const { orders_count, new_customers_count, repeat_customers_count } = await summary(shop)
    assert.deepEqual([orders_count, new_customers_count, repeat_customers_count], [15, 4, 4])
    await app.check()
  })

  test('knows the first order of a customer also if many newer orders follow', async () => {
    const shop = await app.shopIn('eager', 'UTC')
    await app.place(shop)
    await app.count()
    await app.place(shop)
    const items = [{ variant_id: shop.variants[333], quantity: 1 }]
    const declined = await checkout(app, shop, { customer_ref: 'ann', items, card: DECLINED })
    assert.equal(declined.status, 402)
    await repeatOrder(declined.body.order.id, 250)
    await app.count()
    const { orders_count, new_customers_count, repeat_customers_count } = await summary(shop)
    assert.deepEqual([orders_count, new_customers_count, repeat_customers_count], [2, 1, 1])
    await app.check()
  })

  test('counts a free order, with its customer and its units', async () => {
    const shop = await app.shopIn('free-goods', 'UTC')
    const free = await addVariant(shop.merchant, 0)
    const items = [{ variant_id: free, quantity: 3 }]
    await app.place(shop, { customer_ref: 'ann', items, card: null })
    await app.place(shop, { customer_ref: 'ann', items, card: null })
    await app.count()
    const { orders_count, units_count, gross_cents, new_customers_count } = await summary(shop)
    assert.deepEqual([orders_count, units_count, gross_cents, new_customers_count], [2, 6, 0, 1])
    await app.check()
  })

  test('counts a refund whose journal is numbered before that of the sale', async () => {
    const shop = await app.shopIn('early', 'UTC')
    const { order } = await app.place(shop)
    const sale = `journal_id = (select id from ledger_journals where order_id = $1 and kind = 'order.placed')`
    await app.superuser.query(`delete from ledger_unsealed where ${sale}`, [order.id])
    ok(await app.act(shop, order.id, 'refunds', { amount_cents: 300 }), 201)
    await app.count()
    assert.deepEqual(
      [(await summary(shop)).refund_cents, (await summary(shop)).orders_count],
      [300, 0],
    )
    await app.superuser.query(
      `insert into ledger_unsealed (tenant_ref, journal_id)
       select tenant_ref, id from ledger_journals where order_id = $1 and kind = 'order.placed'`,
      [order.id],
    )
    await app.count()
    const { refund_cents, gross_cents, new_customers_count } = await summary(shop)
    assert.deepEqual([refund_cents, gross_cents, new_customers_count], [300, 2_000, 1])
    await app.check()
  })
})

describe('a count from the beginning', () => {
  before(open)

  test('gives the same figures, and reports read the old generation until it is ready', async () => {
    const shop = await app.shopIn('rebuilt', 'Europe/Berlin')
    const { order, items } = await app.place(shop, {
      items: [
        { variant_id: shop.variants[1_000], quantity: 3 },
        { variant_id: shop.variants[333], quantity: 2 },
      ],
    })
    const edits = [{ order_item_id: items[0].id, quantity: 1 }]
    ok(await app.act(shop, order.id, 'edit', { edits }))
    ok(await app.act(shop, order.id, 'refunds', { amount_cents: 333 }), 201)
    await app.count()
    const figures = await daysOf('rebuilt')
    assert.ok(figures.length > 20)
    await analytics.rebuild(app.runtime.workerDatabase.tenant('rebuilt'))
    assert.deepEqual(
      (await generationsOf('rebuilt')).map(({ state }) => state),
      ['serving', 'building'],
    )
    assert.equal((await summary(shop)).refund_cents, 333)
    await app.count()
    assert.deepEqual(await daysOf('rebuilt'), figures)
    assert.deepEqual(await generationsOf('rebuilt'), [
      { generation: 2, state: 'serving', time_zone: 'Europe/Berlin' },
    ])
    const { rows } = await app.superuser.query(
      `select distinct generation from analytics_days where tenant_ref = 'rebuilt'`,
    )
    assert.deepEqual(rows, [{ generation: 2 }], 'the rows of the first one are deleted')
  })

  test('is started by one command, for one store or for all', async () => {
    const shop = await app.shopIn('told', 'UTC')
    await app.place(shop)
    await app.count()
    const before = await daysOf('told')
    const said: string[] = []
    const run = (tenant: string | null) =>
      rebuildAnalytics(app.runtime, tenant, (line) => void said.push(line))
    assert.equal(await run('told'), 0)
    assert.deepEqual(said, ['ok    told\n'])
    assert.deepEqual(await daysOf('told'), before)
    assert.equal(await run('nobody'), 1)
    assert.equal(await run(null), 0)
    assert.ok(said.filter((line) => line.startsWith('ok')).length > 2)
    await app.count()
  })

  test('moves the figures to the new time zone of a store', async () => {
    const shop = await app.shopIn('moving', 'America/New_York')
    app.setTime('moving', '2026-10-31T23:30:00Z')
    await app.place(shop)
    await app.count()
    assert.equal((await summary(shop, 'from=2026-10-31&to=2026-10-31')).orders_count, 1)
    ok(await shop.merchant.patch('/v1/my/store', { time_zone: 'Asia/Tokyo' }))
    assert.equal((await summary(shop)).timezone, 'America/New_York', 'until it is counted again')
    await app.superuser.query(
      `update analytics_generations set due_at = now() where tenant_ref = 'moving'`,
    )
    await app.count()
    const moved = await summary(shop, 'from=2026-11-01&to=2026-11-01')
    assert.deepEqual([moved.timezone, moved.orders_count], ['Asia/Tokyo', 1])
    await app.check()
  })
})

describe('a test order', () => {
  before(open)

  const flag = (shop: Shop, id: string, is_test: boolean) =>
    app.operator.post(`/v1/stores/${shop.tenant}/orders/${id}/test-flag`, { is_test })

  test('leaves all figures when it is flagged, and returns to them when the flag is cleared', async () => {
    const shop = await app.shopIn('tested', 'UTC')
    const { order } = await app.place(shop)
    ok(await app.act(shop, order.id, 'refunds', { amount_cents: 100 }), 201)
    await app.place(shop)
    await app.count()
    ok(await flag(shop, order.id, true))
    const without = await summary(shop)
    assert.deepEqual([without.orders_count, without.refund_cents], [1, 0])
    await app.check()
    ok(await flag(shop, order.id, true))
    assert.equal((await summary(shop)).orders_count, 1, 'a second flag changes nothing')
    ok(await flag(shop, order.id, false))
    const again = await summary(shop)
    assert.deepEqual([again.orders_count, again.refund_cents], [2, 100])
    await app.check()
  })

  test('is in no figure also if it is flagged before or during the count', async () => {
    const shop = await app.shopIn('raced', 'UTC')
    const ids: string[] = []
    for (let n = 0; n < 6; n++) ids.push((await app.place(shop)).order.id)
    ok(await flag(shop, ids[0] ?? '', true))
    while ((await chain()) > 0);
    await Promise.all([
      ...ids.slice(1, 3).map((id) => flag(shop, id, true)),
      analytics.countNumbered(app.runtime.workerDatabase),
      ...ids.slice(3, 5).map((id) => flag(shop, id, true)),
    ])
    await app.count()
    assert.equal((await summary(shop)).orders_count, 1)
    await app.check()
  })

  test('leaves the payments of the report, also those of days already counted', async () => {
    const shop = await app.shopIn('paying', 'UTC')
    app.setTime('paying', '2026-03-01T12:00:00Z')
    const { order } = await app.place(shop)
    await app.place(shop)
    app.setTime('paying', '2026-03-10T12:00:00Z')
    await app.count()
    const read = async () =>
      ok(await shop.merchant.get(`${URL}/payments?from=2026-03-01&to=2026-03-01`)).approved_count
    assert.equal(await read(), 2)
    ok(await flag(shop, order.id, true))
    assert.equal(await read(), 1)
    await app.count()
    assert.equal(await read(), 1)
  })
})

describe('an edit that moves no money', () => {
  before(open)

  test('moves its units from one product to the other', async () => {
    const shop = await app.shopIn('swapped', 'UTC')
    const twin = ok(
      await shop.merchant.post('/v1/merchant/catalog/products', { slug: 'twin', name: 'Twin' }),
      201,
    ).product
    const { variant } = ok(
      await shop.merchant.post(`/v1/merchant/catalog/products/${twin.id}/variants`, {
        sku: 'twin',
        price_cents: 1_000,
      }),
      201,
    )
    const { order, items } = await app.place(shop, {
      items: [
        { variant_id: shop.variants[1_000], quantity: 2 },
        { variant_id: variant.id, quantity: 1 },
      ],
    })
    const edit = (first: number, second: number) =>
      shop.merchant.post(
        `/v1/merchant/orders/${order.id}/edit`,
        {
          edits: [
            { order_item_id: items[0].id, quantity: first },
            { order_item_id: items[1].id, quantity: second },
          ],
        },
        keyed(),
      )
    const unitsOf = async () => {
      const { groups } = ok(await shop.merchant.get(`${URL}/sales?group_by=variant`))
      return [shop.variants[1_000], variant.id].map(
        (id) => groups.find(({ key }: { key: string }) => key === id)?.units_count,
      )
    }
    ok(await edit(1, 2))
    await app.count()
    assert.deepEqual(await unitsOf(), [1, 2])
    ok(await edit(1, 1))
    await app.count()
    assert.deepEqual(await unitsOf(), [1, 1])
    assert.equal((await summary(shop)).gross_cents, 2_000)
    await app.check()
  })

  test('removes free units when the part of the order that has not shipped is cancelled', async () => {
    const shop = await app.shopIn('samples', 'UTC')
    const sample = await addVariant(shop.merchant, 0)
    const { order, items } = await app.place(shop, {
      items: [
        { variant_id: shop.variants[1_000], quantity: 1 },
        { variant_id: sample, quantity: 2 },
      ],
    })
    const path = `/v1/merchant/orders/${order.id}`
    const units = { items: [{ order_item_id: items[0].id, quantity: 1 }] }
    const { fulfillment } = ok(await shop.merchant.post(`${path}/fulfillments`, units), 201)
    ok(await shop.merchant.post(`/v1/merchant/fulfillments/${fulfillment.id}/ship`))
    const rest = { reason: 'inventory' }
    ok(await shop.merchant.post(`${path}/cancel-remaining`, rest, keyed()))
    await app.count()
    const { units_count, gross_cents } = await summary(shop)
    assert.deepEqual([units_count, gross_cents], [1, 1_000])
    await app.check()
  })
})
