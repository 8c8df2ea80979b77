import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import { eraseOrders } from '../../../src/modules/orders/customer-data.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { until } from '../../harness/eventually.ts'
import { edit, refund } from '../../harness/operations.ts'
import { shipBySql } from '../../harness/parcels.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { APPROVED, cart, checkout, openCheckoutApp, openShop } from '../checkout/setup.ts'

test('a change that read the order before another change ended', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000, 2_500])
  const { merchant } = shop
  const db = app.runtime.database.tenant('acme')
  const other = await openSuperuser(t, app.database)
  t.afterEach(() => app.assertAddsUp())

  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const ask = (id: string, verb: string, body?: object) =>
    merchant.post(`/v1/merchant/orders/${id}/${verb}`, body, { 'idempotency-key': randomUUID() })
  const waiting = (count: number) =>
    until(`${count} wait for the order`, async () => {
      const { rows } = await app.superuser.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === count
    })
  /**
   * Locks the order. Requests wait until `unlock`, and then run in the order in which they came.
   */
  const lockOrder = async (id: string) => {
    await other.query('begin')
    await other.query('select from orders where id = $1 for update', [id])
    return { unlock: () => other.query('commit') }
  }

  await t.test('is refused as busy, and does not undo the other change', async () => {
    const items = [1_000, 2_500].map((price) => ({ variant_id: shop.variants[price], quantity: 1 }))
    const { body: bought } = await checkout(app, shop, cart('', { items }))
    const { id } = bought.order
    const [first, added] = bought.items.map((item: { id: string }) => item.id)
    const to = (order_item_id: string, quantity: number) => ({
      edits: [{ order_item_id, quantity }],
    })
    assert.equal((await ask(id, 'edit', to(added, 0))).status, 200)
    const removing = Promise.withResolvers<Awaited<ReturnType<typeof ask>>>()
    const claim = { operation: 'edit', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const at = async (point: string) => {
      if (point !== 'edit-answered') return
      const { unlock } = await lockOrder(id)
      setImmediate(async () => {
        await waiting(1)
        ask(id, 'edit', to(first, 0)).then(removing.resolve, removing.reject)
        await waiting(2)
        await unlock()
      })
    }
    const request = {
      body: to(added, 1),
      tender: { by: 'card', source: { card: readCard(APPROVED, systemClock) } } as const,
      note: null,
    }
    const actor = { name: 'storefront', correlationId: null }
    const adding = await run(db, claim, (held) =>
      edit(app.depsWith({ at }), db, { actor, claim: held }, id, request),
    )
    assert.equal(adding.status, 200, adding.body)
    const removed = await removing.promise
    const { order } = await read(id)
    assert.deepEqual([order.status, order.total_cents], ['placed', 3_500], removed.text)
    assert.equal(removed.body.error.code, 'order_busy')
  })

  await t.test(
    'does not reject an order that was released meanwhile, and bans no shopper',
    async () => {
      const email = 'good@example.com'
      const { body: bought } = await checkout(app, shop, cart(shop.variants[1_000], { email }))
      const { id } = bought.order
      assert.equal((await ask(id, 'hold', {})).status, 200)
      const { unlock } = await lockOrder(id)
      const releasing = ask(id, 'release')
      await waiting(1)
      const url = `/v1/merchant/fraud/reviews/${id}/reject`
      const ban = { kinds: ['email'], reason: 'a doubt' }
      const rejecting = merchant.post(url, { ban }, { 'idempotency-key': randomUUID() })
      await waiting(2)
      await unlock()
      assert.equal((await releasing).status, 200)
      const rejected = await rejecting
      assert.deepEqual([rejected.status, rejected.body.error.code], [409, 'invalid_transition'])
      assert.equal((await read(id)).order.status, 'placed')
      const { rows } = await app.superuser.query('select kind, value from fraud_bans')
      assert.deepEqual(rows, [])
    },
  )

  await t.test('loses a dispute only after a pending refund has ended', async () => {
    const { body: bought } = await checkout(app, shop, cart(shop.variants[1_000]))
    const { id } = bought.order
    const setDispute = (outcome: string) =>
      app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, { outcome })
    const at = async (point: string) => {
      if (point !== 'refund-begun') return
      assert.equal((await setDispute('opened')).status, 200)
      const lost = await setDispute('lost')
      assert.deepEqual([lost.status, lost.body.error?.code], [409, 'order_busy'], lost.text)
    }
    const no = async () => refused('invalid_state')
    const deps = app.depsWith({ at, gateway: () => ({ void: no, refund: no }) })
    const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const refunded = await run(db, claim, (held) =>
      refund(deps, db, { actor: SYSTEM, claim: held }, id, { by: 'merchant', body: {} }),
    )
    assert.match(refunded.body, /refund_failed/)
    assert.equal((await setDispute('lost')).status, 200)
    const { order } = await read(id)
    assert.deepEqual([order.status, order.refunded_cents], ['refunded', 1_000])
  })

  await t.test('does not cancel units that were shipped meanwhile', async () => {
    const { body: bought } = await checkout(app, shop, cart(shop.variants[1_000]))
    const { id } = bought.order
    const { unlock } = await lockOrder(id)
    const cancelling = ask(id, 'cancel', { reason: 'staff' })
    await waiting(1)
    await shipBySql(other, id)
    await other.query(
      `update orders set status = 'shipped', fulfillment_status = 'shipped' where id = $1`,
      [id],
    )
    await unlock()
    const cancelled = await cancelling
    assert.deepEqual([cancelled.status, cancelled.body.error?.code], [409, 'invalid_transition'])
    assert.equal((await read(id)).order.status, 'shipped')
  })

  await t.test(
    'does not overwrite the shipping of the other change, even at the same price',
    async () => {
      const rates = { flat_rate_cents: 500, expedited_rate_cents: 500, max_cents: 500 }
      const items = [{ variant_id: shop.variants[1_000], quantity: 2 }]
      const shipping = { mode: 'flat', ...rates }
      const { body: bought } = await checkout(app, shop, cart('', { items, shipping }))
      const { id } = bought.order
      const to = (quantity: number) => [{ order_item_id: bought.items[0].id, quantity }]
      const tax = async () => {
        const sooner = await ask(id, 'edit', { edits: to(2), expedited: true })
        assert.equal(sooner.status, 200, sooner.text)
        return 0
      }
      const request = {
        body: { edits: to(1), tax: { provider: 'acme_tax', rate_bps: 0 } },
        tender: { by: 'vault', allowed: false } as const,
        note: null,
      }
      const claim = { operation: 'edit', key: randomUUID(), fingerprint: Buffer.alloc(32) }
      const fewer = run(db, { ...claim, passing: ['order_busy'] }, (held) =>
        edit({ ...app.depsWith(), tax }, db, { actor: SYSTEM, claim: held }, id, request),
      )
      await assert.rejects(fewer, { code: 'order_busy' })
      const { rows } = await app.superuser.query('select pricing from orders where id = $1', [id])
      assert.equal(rows[0].pricing.expedited, true)
    },
  )

  await t.test(
    'leaves its unit refundable at the remaining amount, if its own refund is refused',
    async () => {
      const items = [{ variant_id: shop.variants[1_000], quantity: 2 }]
      const tax = { provider: 'flat_rate', rate_bps: 825 }
      const { body: bought } = await checkout(app, shop, cart('', { items, tax }))
      const { id } = bought.order
      const unit = { items: [{ order_item_id: bought.items[0].id, quantity: 1 }] }
      const at = async (point: string) => {
        if (point !== 'refund-begun') return
        const last = await ask(id, 'refunds', unit)
        assert.equal(last.body.refund?.amount_cents, 1_083, last.text)
      }
      const no = async () => refused('processing_error')
      const deps = app.depsWith({ at, gateway: () => ({ void: no, refund: no }) })
      const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
      const first = await run(db, claim, (held) =>
        refund(deps, db, { actor: SYSTEM, claim: held }, id, { by: 'merchant', body: unit }),
      )
      assert.match(first.body, /refund_failed/)
      const again = await ask(id, 'refunds', unit)
      assert.equal(again.body.refund?.amount_cents, 1_082, again.text)
      assert.equal(again.body.order.status, 'refunded')
    },
  )

  await t.test('stores nothing about a customer who was erased meanwhile', async () => {
    const { body: bought } = await checkout(app, shop, cart(shop.variants[1_000]))
    const { id } = bought.order
    const at = async (point: string) => {
      if (point !== 'edit-answered') return
      const names = { customer_refs: ['ann'], pseudonyms: ['erased:ann'] }
      const batch = { ...names, before: new Date().toISOString(), limit: 100 }
      await db.transaction('test', (tx) => eraseOrders(tx, batch))
    }
    const request = {
      body: { edits: [{ order_item_id: bought.items[0].id, quantity: 2 }] },
      tender: { by: 'card', source: { card: readCard(APPROVED, systemClock) } } as const,
      note: 'for Ann of 12 Elm Street',
    }
    const claim = { operation: 'edit', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const edited = await run(db, claim, (held) =>
      edit(app.depsWith({ at }), db, { actor: SYSTEM, claim: held }, id, request),
    )
    assert.equal(edited.status, 200, edited.body)
    const { rows } = await app.superuser.query(
      `select (select count(*)::int from order_notes where order_id = $1) as notes,
              (select count(*)::int from charges
                where order_id = $1 and card_fingerprint is not null) as cards`,
      [id],
    )
    assert.deepEqual(rows, [{ notes: 0, cards: 0 }])
  })
})
