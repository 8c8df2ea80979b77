import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createRenewalWorker } from '../../../src/modules/renewals/jobs.ts'
import * as cycles from '../../../src/modules/subscriptions/cycles.ts'
import { drain } from '../shopper-mail/setup.ts'
import { type RenewalApp, type RenewalShop, shareRenewalApp } from './setup.ts'

describe('the scheduler', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  /** Moves the dates of all subscriptions of a store back, so that they are due by the machine's time. */
  const makeDue = (shop: RenewalShop) =>
    app.superuser.query(
      `update subscriptions set anchor_on = (now() - interval '1 month 2 hours')::date,
              next_charge_at = now() - interval '1 hour' where tenant_ref = $1`,
      [shop.tenant],
    )
  const subscribeMany = async (shop: RenewalShop, count: number) => {
    const made = await Promise.all(Array.from({ length: count }, () => app.subscribe(shop)))
    await makeDue(shop)
    return made.map(({ id }) => id)
  }
  const worker = (more: object = {}) => createRenewalWorker({ ...app.depsWith(), ...more })

  /** The pages that a look for work reads: that for the stores, and that for one store. */
  const pages = async (shop: RenewalShop): Promise<number> => {
    await app.superuser.query('vacuum analyze subscriptions')
    const explain = async (query: string, values: unknown[]) => {
      const { rows } = await app.superuser.query(
        `explain (analyze, buffers, format json) ${query}`,
        values,
      )
      const [{ Plan: plan }] = rows[0]['QUERY PLAN']
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    }
    const ofStore = await explain(
      `select id from subscriptions where tenant_ref = $1 and (tenant_ref, due_at) >= ($1, '-infinity')
          and due_at <= now() and (lease_until is null or lease_until <= now()) order by due_at limit 20`,
      [shop.tenant],
    )
    const ofAll = await explain(
      'select tenant_ref from subscriptions where due_at <= now() order by due_at limit 200',
      [],
    )
    return ofStore + ofAll
  }

  test('schedulers of many processes at once charge each cycle once, and miss none', async () => {
    const shops = await Promise.all([app.newShop(), app.newShop()])
    const ids = (await Promise.all(shops.map((shop) => subscribeMany(shop, 12)))).flat()
    await Promise.all(Array.from({ length: 4 }, () => drain(worker({ slots: 8 }))))
    for (const id of ids) assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    const { rows } = await app.superuser.query(
      `select count(*)::int as orders from orders where subscription_id = any($1)`,
      [ids],
    )
    assert.deepEqual(rows, [{ orders: ids.length }])
  })

  test('lets a store with a long queue not delay another', async () => {
    const [big, small] = await Promise.all([app.newShop(), app.newShop()])
    await subscribeMany(big, 12)
    const [id = ''] = await subscribeMany(small, 1)
    const first = worker({ slots: 4 })
    await first.step(new AbortController().signal)
    await first.drain()
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    await drain(first)
  })

  test('charges nothing while another request charges the same subscription', async () => {
    const shop = await app.newShop()
    const [id = ''] = await subscribeMany(shop, 1)
    const [charged] = await Promise.all([app.charge(shop, id), drain(worker()), drain(worker())])
    assert.ok([201, 409].includes(charged.status), charged.text)
    await drain(worker())
    assert.deepEqual((await app.cycles(id)).slice(0, 2), ['1 paid', '2 paid'])
    const placed = (await app.orders(id)).map(({ subscription_cycle }) => subscription_cycle)
    assert.deepEqual(placed, [...new Set(placed)])
  })

  test('charges a subscription as it is at that moment: a change in between is not lost', async () => {
    const shop = await app.newShop()
    const [id = ''] = await subscribeMany(shop, 1)
    let changed = false
    const change = async (point: string) => {
      if (point !== 'claimed' || changed) return
      changed = true
      await app.superuser.query(
        'update subscriptions set quantity = 3, version = version + 1 where id = $1',
        [id],
      )
    }
    await drain(worker({ at: change }))
    assert.ok(changed)
    const [order] = await app.orders(id)
    assert.equal(Number(order.total_cents), 3_000)
  })

  test('finds its next work by two indexes, whatever the number of subscriptions', async (t) => {
    const shop = await app.newShop()
    await app.subscribe(shop)
    const before = await pages(shop)
    await app.superuser.query(
      `insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id, quantity, interval, interval_count,
              unit_price_cents, currency, origin_order_id, anchor_on, current_period_start, subscription_number, next_charge_at)
       select tenant_ref, fd_uuid(), customer_ref, product_id, variant_id, 1, 'month', 1, 1000, 'USD', origin_order_id,
              anchor_on, now(), 1000000 + n, now() + interval '20 days' + n * interval '1 second'
         from subscriptions, generate_series(1, 20000) n where tenant_ref = $1`,
      [shop.tenant],
    )
    const after = await pages(shop)
    t.diagnostic(`${before} pages of a few, ${after} of 20,000`)
    assert.ok(after <= before + 4, `${before} pages, then ${after}`)
    const db = app.runtime.workerDatabase.tenant(shop.tenant)
    assert.deepEqual(await cycles.dueQueue.claim(db, 20), [])
    await app.superuser.query(
      `delete from subscriptions where tenant_ref = $1 and subscription_number > 1000000`,
      [shop.tenant],
    )
  })
})
