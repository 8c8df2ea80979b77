import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { addVariant, stock } from '../checkout/setup.ts'
import { ADDRESS, CARDS, type RenewalApp, type RenewalShop, shareRenewalApp } from './setup.ts'

describe('a renewal', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  test('is charged on the day of its anchor, and places one order for each cycle', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-31T12:00:00Z')
    const { id, order_id } = await app.subscribe(shop)
    app.setTime(shop, '2027-02-28T04:59:00Z')
    assert.deepEqual(await app.run(shop), [], 'not before 06:00 in the time zone of the store')
    for (const at of ['2027-02-28T05:01:00Z', '2027-03-31T05:01:00Z', '2027-04-30T04:01:00Z']) {
      app.setTime(shop, at)
      assert.deepEqual(await app.run(shop), ['charge'])
      assert.deepEqual(await app.run(shop), [], 'once')
    }
    const orders = await app.orders(id)
    assert.deepEqual(
      orders.map(({ day, subscription_cycle, source }) => [day, subscription_cycle, source]),
      [
        ['2027-02-28', 2, 'subscription_renewal'],
        ['2027-03-31', 3, 'subscription_renewal'],
        ['2027-04-30', 4, 'subscription_renewal'],
      ],
    )
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid', '3 paid', '4 paid'])
    const { next_charge_at, paid_cycles, last_order_id, status } = await app.row(id)
    assert.deepEqual(
      [next_charge_at.toISOString(), paid_cycles, last_order_id, status],
      ['2027-05-31T04:00:00.000Z', 4, orders[2].id, 'active'],
    )
    const { rows } = await app.superuser.query(
      `select idempotency_key, customer_ref, email, ship_to ->> 'line1' as line1 from orders
        where id = any($1) order by subscription_cycle nulls first`,
      [[order_id, ...orders.map((order) => order.id)]],
    )
    const [origin, ...renewals] = rows
    for (const [at, renewal] of renewals.entries()) {
      assert.equal(renewal.idempotency_key, `sub:${id}:${at + 2}`)
      assert.deepEqual(
        [renewal.customer_ref, renewal.email, renewal.line1],
        [origin.customer_ref, 'ann@example.com', ADDRESS.line1],
      )
    }
    assert.deepEqual(await app.events(id), ['renewed', 'renewed', 'renewed'])
  })

  test('costs the price at which it was sold, or by its policy the catalog price, with shipping and tax of its own', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const shipping = {
      mode: 'flat',
      flat_rate_cents: 500,
      expedited_rate_cents: 900,
      max_cents: 10_000,
    }
    const tax = { provider: 'flat_rate', rate_bps: 1_000 }
    const locked = await app.subscribe(shop, { shipping, tax, expedited: true })
    const current = await app.subscribe(shop, { shipping, tax, expedited: true })
    await app.superuser.query(
      `update subscriptions set price_policy = 'current', noticed_for = next_charge_at where id = $1`,
      [current.id],
    )
    await app.superuser.query('update variants set price_cents = 1500 where id = $1', [shop.tea])
    app.setTime(shop, '2027-02-10T06:01:00Z')
    assert.deepEqual(await app.run(shop), ['charge', 'charge'])
    const of = async (id: string) => {
      const [order] = await app.orders(id)
      const { subtotal_cents, shipping_cents, tax_cents, total_cents } = order
      return [subtotal_cents, shipping_cents, tax_cents, total_cents].map(Number)
    }
    assert.deepEqual(await of(locked.id), [1_000, 900, 100, 2_000])
    assert.deepEqual(await of(current.id), [1_500, 900, 150, 2_550])
    assert.equal(Number((await app.row(current.id)).unit_price_cents), 1_500)
  })

  test('keeps a recurring coupon, and no other', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    for (const [code, recurring] of [
      ['ONCE', false],
      ['EVER', true],
    ] as const) {
      const coupon = { code, type: 'percent', percent_bps: 2_000, recurring, usage_limit: 1 }
      const made = await shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
      assert.equal(made.status, 201, made.text)
    }
    const once = await app.subscribe(shop, { coupon_code: 'ONCE' })
    const ever = await app.subscribe(shop, { coupon_code: 'EVER' })
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    assert.equal(Number((await app.orders(once.id))[0].discount_cents), 0)
    assert.equal(Number((await app.orders(ever.id))[0].discount_cents), 200)
  })

  test("tells the gateway that the merchant charges, with the shopper's first transaction as reference", async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id, order_id } = await app.subscribe(shop)
    const { rows } = await app.superuser.query(
      `select txn_id, vault_id from charges where order_id = $1`,
      [order_id],
    )
    app.setTime(shop, '2027-02-10T06:01:00Z')
    const sources: unknown[] = []
    await app.run(shop, {
      gateway: (real) => ({
        authorize: (charge) => {
          sources.push(charge.source)
          return real.authorize(charge)
        },
      }),
    })
    assert.deepEqual(sources, [{ vault_id: rows[0].vault_id, initial_txn_id: rows[0].txn_id }])
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
  })

  test('charges once after a long absence: the missed cycles are skipped and marked as such', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-31T12:00:00Z')
    const { id } = await app.subscribe(shop)
    app.setTime(shop, '2027-06-15T12:00:00Z')
    assert.deepEqual(await app.run(shop), ['charge'])
    assert.deepEqual(await app.run(shop), [])
    assert.deepEqual(await app.cycles(id), [
      '1 paid',
      '2 skipped overdue',
      '3 skipped overdue',
      '4 skipped overdue',
      '5 paid',
    ])
    assert.equal((await app.orders(id)).length, 1)
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-06-30T04:00:00.000Z')
  })

  test('passes over cycles that are skipped', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id } = await app.subscribe(shop)
    await app.superuser.query(
      `insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, reason)
       select tenant_ref, id, 3, 'skipped', now(), 'shopper' from subscriptions where id = $1`,
      [id],
    )
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-04-10T04:00:00.000Z')
    app.setTime(shop, '2027-04-10T04:01:00Z')
    await app.run(shop)
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid', '3 skipped shopper', '4 paid'])
  })

  test('ends with its last cycle, and at the end of the requested period', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const bounded = await app.subscribe(shop)
    const ending = await app.subscribe(shop)
    await app.superuser.query('update subscriptions set max_cycles = 2 where id = $1', [bounded.id])
    await app.superuser.query(
      'update subscriptions set cancel_at_period_end = true where id = $1',
      [ending.id],
    )
    app.setTime(shop, '2027-02-10T06:01:00Z')
    assert.deepEqual((await app.run(shop)).toSorted(), ['charge', 'end'])
    const { status, next_charge_at, due_at } = await app.row(bounded.id)
    assert.deepEqual([status, next_charge_at, due_at], ['expired', null, null])
    const ended = await app.row(ending.id)
    assert.deepEqual([ended.status, ended.cancel_reason], ['cancelled', 'period_end'])
    assert.deepEqual(await app.orders(ending.id), [])
    assert.deepEqual(await app.events(bounded.id), ['renewed', 'expired'])
    assert.deepEqual(await app.events(ending.id), ['cancelled'])
    assert.deepEqual(await app.told(shop, bounded.id), ['expired system max_cycles'])
    assert.deepEqual(await app.told(shop, ending.id), ['cancelled system period_end'])
  })

  test('ends once if its origin order is cancelled at that moment, and only one of the two reports it', async () => {
    for (let round = 0; round < 5; round++) {
      const shop = await app.newShop()
      app.setTime(shop, '2027-01-10T12:00:00Z')
      const { id, order_id } = await app.subscribe(shop)
      await app.superuser.query(
        'update subscriptions set cancel_at_period_end = true where id = $1',
        [id],
      )
      app.setTime(shop, '2027-02-10T06:01:00Z')
      const url = `/v1/merchant/orders/${order_id}/cancel`
      const [cancelled] = await Promise.all([
        shop.merchant.post(url, { reason: 'customer' }, { 'idempotency-key': randomUUID() }),
        app.run(shop),
      ])
      assert.equal(cancelled.status, 200, cancelled.text)
      assert.equal((await app.row(id)).status, 'cancelled')
      assert.equal((await app.told(shop, id)).length, 1)
    }
  })

  test('continues after a pause on the first date of its anchor, and the pause uses up no cycle', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-31T12:00:00Z')
    const { id } = await app.subscribe(shop)
    await app.superuser.query(
      `update subscriptions set status = 'paused', next_charge_at = null,
              paused_until = '2027-04-15T12:00:00Z' where id = $1`,
      [id],
    )
    app.setTime(shop, '2027-03-31T12:00:00Z')
    assert.deepEqual(await app.run(shop), [])
    app.setTime(shop, '2027-04-15T12:01:00Z')
    assert.deepEqual(await app.run(shop), ['resume'])
    assert.deepEqual(await app.told(shop, id), ['resumed system paused_until'])
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-04-30T04:00:00.000Z')
    app.setTime(shop, '2027-04-30T04:01:00Z')
    assert.deepEqual(await app.run(shop), ['charge'])
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-05-31T04:00:00.000Z')
  })

  describe('of what is not in stock', () => {
    const outOfStock = async (on_out_of_stock: string) => {
      const shop = await app.newShop({ settings: { on_out_of_stock } })
      app.setTime(shop, '2027-01-10T12:00:00Z')
      await stock(shop.merchant, shop.tea, 1)
      const { id } = await app.subscribe(shop)
      app.setTime(shop, '2027-02-10T06:01:00Z')
      await app.run(shop)
      return { shop, id }
    }
    const charges = async (shop: RenewalShop) => {
      const { rows } = await app.superuser.query(
        'select count(*)::int as n from sim_charges where tenant_ref = $1',
        [shop.tenant],
      )
      return rows[0].n
    }

    test('is skipped, and never charged', async () => {
      const { shop, id } = await outOfStock('skip')
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 skipped out_of_stock'])
      assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-03-10T05:00:00.000Z')
      assert.equal(await charges(shop), 1, 'only the order that started it')
      assert.deepEqual(await app.events(id), ['skipped'])
      assert.deepEqual(await app.told(shop, id), ['skipped system out_of_stock'])
    })

    test('is tried again on the next morning, and charged once there is stock', async () => {
      const { shop, id } = await outOfStock('retry')
      assert.deepEqual(await app.orders(id), [])
      const { retry_at, next_charge_at, status } = await app.row(id)
      assert.match(retry_at.toISOString(), /^2027-02-11T0[5-8]:/)
      assert.deepEqual(
        [next_charge_at.toISOString(), status],
        ['2027-02-10T05:00:00.000Z', 'active'],
      )
      app.setTime(shop, '2027-02-11T10:00:00Z')
      await app.run(shop)
      assert.equal(await charges(shop), 1)
      await stock(shop.merchant, shop.tea, 5)
      app.setTime(shop, '2027-02-12T10:00:00Z')
      assert.deepEqual(await app.run(shop), ['charge'])
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
      assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-03-10T05:00:00.000Z')
    })

    test('is charged and waits for the stock, if the store allows backorders', async () => {
      const { shop, id } = await outOfStock('backorder')
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
      const { rows } = await app.superuser.query(
        'select on_hand::int, allocated::int from inventory_levels where tenant_ref = $1',
        [shop.tenant],
      )
      assert.deepEqual(rows, [{ on_hand: 1, allocated: 2 }])
    })
  })

  describe('that can no longer be sold as it was', () => {
    const spoiled = async (spoil: (shop: RenewalShop, id: string) => Promise<unknown>) => {
      const shop = await app.newShop()
      app.setTime(shop, '2027-01-10T12:00:00Z')
      const { id } = await app.subscribe(shop)
      await spoil(shop, id)
      app.setTime(shop, '2027-02-10T06:01:00Z')
      await app.run(shop)
      assert.deepEqual(await app.orders(id), [], 'nothing is charged')
      return { shop, id, row: await app.row(id) }
    }
    const sql = (text: string, ...values: unknown[]) => app.superuser.query(text, values)

    for (const [what, reason, spoil] of [
      [
        'whose product is archived',
        'not_sellable',
        (shop: RenewalShop) =>
          sql(`update products set status = 'archived' where tenant_ref = $1`, shop.tenant),
      ],
      [
        'whose variant is gone',
        'not_sellable',
        (shop: RenewalShop) =>
          sql('update variants set archived_at = now() where id = $1', shop.tea),
      ],
      [
        'whose currency is another now',
        'currency_changed',
        (shop: RenewalShop) => sql(`update variants set currency = 'EUR' where id = $1`, shop.tea),
      ],
      [
        'whose country is not shipped to any more',
        'country_not_served',
        (shop: RenewalShop) =>
          shop.merchant.put('/v1/my/store/manifest', {
            manifest: { behavior: { shipping: { countries: ['FR'] } } },
          }),
      ],
      [
        'whose customer is banned',
        'banned',
        (shop: RenewalShop) =>
          shop.merchant.post('/v1/merchant/fraud/bans', {
            kind: 'email',
            value: 'ann@example.com',
            reason: 'x',
          }),
      ],
    ] as const) {
      test(`${what} is paused until its merchant decides`, async () => {
        const { id, row } = await spoiled(spoil)
        assert.deepEqual([row.status, row.due_at], ['paused', null])
        const { rows } = await sql(
          `select data::jsonb ->> 'reason' as reason from webhook_events
            where type = 'commerce.subscription.paused.v1'
              and data::jsonb -> 'subscription' ->> 'id' = $1`,
          id,
        )
        assert.deepEqual(rows, [{ reason }])
        assert.deepEqual(await app.cycles(id), ['1 paid'])
      })
    }

    test('a renewal in a suspended store waits until the store is live, and is then one charge', async () => {
      const { shop, id, row } = await spoiled((to) =>
        app.operator.put(`/v1/stores/${to.tenant}/status`, { status: 'suspended' }),
      )
      assert.deepEqual([row.status, row.charging_cycle], ['active', null])
      await app.operator.put(`/v1/stores/${shop.tenant}/status`, { status: 'live' })
      app.setTime(shop, '2027-04-20T12:00:00Z')
      await app.run(shop)
      assert.deepEqual(await app.cycles(id), [
        '1 paid',
        '2 skipped overdue',
        '3 skipped overdue',
        '4 paid',
      ])
    })
  })

  test('goes on while the add-on is off', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id } = await app.subscribe(shop)
    const off = await shop.merchant.post('/v1/merchant/entitlements/disable', {
      feature_key: 'subscriptions',
    })
    assert.equal(off.status, 200, off.text)
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
  })

  describe('that is held for review', () => {
    const held = async () => {
      const shop = await app.newShop()
      app.setTime(shop, '2027-01-10T12:00:00Z')
      const { id } = await app.subscribe(shop)
      const ban = { kind: 'email', value: 'ann@example.com', action: 'review', reason: 'x' }
      const made = await shop.merchant.post('/v1/merchant/fraud/bans', ban)
      assert.equal(made.status, 201, made.text)
      app.setTime(shop, '2027-02-10T06:01:00Z')
      await app.run(shop)
      const [order] = await app.orders(id)
      assert.equal(order.status, 'on_hold')
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 charging'])
      assert.deepEqual(await app.run(shop), [], 'no second charge meanwhile')
      return { shop, id, order }
    }
    const keyed = () => ({ 'idempotency-key': randomUUID() })

    test('is charged by its release', async () => {
      const { shop, id, order } = await held()
      const url = `/v1/merchant/orders/${order.id}/release`
      const released = await shop.merchant.post(url, {}, keyed())
      assert.equal(released.status, 200, released.text)
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
      assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-03-10T05:00:00.000Z')
    })

    test('is given up when the order is rejected, which pauses the subscription', async () => {
      const { shop, id, order } = await held()
      const url = `/v1/merchant/fraud/reviews/${order.id}/reject`
      const rejected = await shop.merchant.post(url, {}, keyed())
      assert.equal(rejected.status, 200, rejected.text)
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 failed fraud'])
      assert.equal((await app.row(id)).status, 'paused')
    })

    test('is given up when the order is cancelled, after which the next cycle is charged', async () => {
      const { shop, id, order } = await held()
      const url = `/v1/merchant/orders/${order.id}/cancel`
      const cancelled = await shop.merchant.post(url, { reason: 'staff' }, keyed())
      assert.equal(cancelled.status, 200, cancelled.text)
      assert.deepEqual(await app.cycles(id), ['1 paid', '2 failed staff'])
      const { status, next_charge_at } = await app.row(id)
      assert.deepEqual(
        [status, next_charge_at.toISOString()],
        ['active', '2027-03-10T05:00:00.000Z'],
      )
    })
  })

  test('a renewal that was paid and then cancelled leaves its subscription running', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id } = await app.subscribe(shop)
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    const [order] = await app.orders(id)
    const url = `/v1/merchant/orders/${order.id}/cancel`
    const cancelled = await shop.merchant.post(
      url,
      { reason: 'staff' },
      {
        'idempotency-key': randomUUID(),
      },
    )
    assert.equal(cancelled.status, 200, cancelled.text)
    assert.deepEqual(await app.cycles(id), ['1 paid', '2 paid'])
    assert.equal((await app.row(id)).status, 'active')
  })

  test('a renewal of a subscription from before the engine, with no card, asks for one', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const { id } = await app.subscribe(shop, { card: CARDS.approved })
    await app.superuser.query(
      'update subscriptions set vault_id = null, gateway = null where id = $1',
      [id],
    )
    app.setTime(shop, '2027-02-10T06:01:00Z')
    assert.deepEqual(await app.run(shop), ['ask_for_card'])
    const { status, dunning_next_at, dunning_ends_at } = await app.row(id)
    assert.deepEqual([status, dunning_next_at], ['past_due', null])
    assert.match(dunning_ends_at.toISOString(), /^2027-02-26T/)
    assert.deepEqual(await app.events(id), ['payment_failed', 'past_due'])
  })

  test('a renewal of several units and of another interval has that quantity and interval', async () => {
    const shop = await app.newShop()
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const weekly = {
      is_subscription: true,
      subscription_interval: 'week',
      subscription_interval_count: 2,
    }
    const variant_id = await addVariant(shop.merchant, 400, weekly)
    const { id } = await app.subscribe(shop, { items: [{ variant_id, quantity: 3 }] })
    app.setTime(shop, '2027-01-24T06:01:00Z')
    await app.run(shop)
    assert.equal(Number((await app.orders(id))[0].total_cents), 1_200)
    assert.equal((await app.row(id)).next_charge_at.toISOString(), '2027-02-07T05:00:00.000Z')
  })
})
