import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { cancelOperation } from '../../../src/modules/order-changes/cancel-money.ts'
import { unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import { claimDue } from '../../../src/platform/idempotency-due.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { cancel, DUE_NOW } from '../../harness/operations.ts'
import { addVariant, enable } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()

describe('a subscription that an order started', () => {
  let store: OrderStore
  let tea: string
  before(async () => {
    store = shared.current
    await enable(store.shop.merchant, 'subscriptions')
    const terms = { is_subscription: true, subscription_interval: 'month' }
    tea = await addVariant(store.shop.merchant, 1_000, terms)
  })

  const subscribe = async () => {
    const items = [{ variant_id: tea, quantity: 2 }]
    const { order, subscriptions } = await store.place({
      items,
      subscribe: true,
      customer_ref: randomUUID(),
    })
    assert.equal(subscriptions.length, 1)
    return { id: order.id as string, subscription: subscriptions[0].id as string }
  }
  const explained = async (id: string) => {
    const { body } = await store.shop.merchant.get(`/v1/merchant/orders/${id}/explain`)
    return body.facts.subscriptions
  }
  const eventsOf = async (subscription: string) => {
    const { rows } = await store.superuser.query(
      `select order_id, customer_ref from webhook_events
        where type = 'commerce.subscription.cancelled.v1'
          and data::jsonb -> 'subscription' ->> 'id' = $1`,
      [subscription],
    )
    return rows
  }
  const timelineOf = async (id: string) => {
    const { timeline } = await store.read(id)
    return timeline.filter(({ type }: { type: string }) => type === 'subscription_cancelled')
  }

  test('is cancelled with the order, once, with an event', async () => {
    const { id, subscription } = await subscribe()
    const other = await subscribe()
    const [running] = await explained(id)
    assert.deepEqual(
      [running.id, running.variant_id, running.status],
      [subscription, tea, 'active'],
    )
    assert.ok(running.next_charge_at)
    const cancelled = await store.merchant(id, 'cancel', { reason: 'staff' })
    assert.equal(cancelled.body.order.status, 'cancelled', cancelled.text)
    const [ended] = await explained(id)
    assert.deepEqual([ended.status, ended.next_charge_at], ['cancelled', null])
    const again = await store.merchant(id, 'cancel', { reason: 'staff' })
    assert.equal(again.body.already_cancelled, true)
    const [event, ...more] = await eventsOf(subscription)
    assert.deepEqual(more, [])
    assert.equal(event.order_id, id)
    const [entry, ...others] = await timelineOf(id)
    assert.deepEqual([entry.data, others], [{ subscription_id: subscription }, []])
    assert.match(entry.actor, /^merchant_key:/)
    assert.equal((await explained(other.id))[0].status, 'active', 'of another order')
  })

  test("is cancelled also by the shopper's cancellation, and by an edit that removes all units", async () => {
    const one = await subscribe()
    const { order } = await store.read(one.id)
    const { customer_ref } = order
    assert.equal((await store.shopper(one.id, 'cancel', { customer_ref })).status, 200)
    assert.equal((await explained(one.id))[0].status, 'cancelled')
    const two = await subscribe()
    const { items } = await store.read(two.id)
    const edits = [{ order_item_id: items[0].id, quantity: 0 }]
    const edited = await store.merchant(two.id, 'edit', { edits })
    assert.equal(edited.body.order.status, 'cancelled', edited.text)
    assert.equal((await explained(two.id))[0].status, 'cancelled')
  })

  test('stays active after refunds and edits of the order', async () => {
    const { id, subscription } = await subscribe()
    const { items } = await store.read(id)
    const edits = [{ order_item_id: items[0].id, quantity: 1 }]
    assert.equal((await store.merchant(id, 'edit', { edits })).status, 200)
    const refunded = await store.merchant(id, 'refunds')
    assert.equal(refunded.body.order.status, 'refunded', refunded.text)
    assert.equal((await explained(id))[0].status, 'active')
    assert.deepEqual(await eventsOf(subscription), [])
    const cancelled = await store.merchant(id, 'cancel', { reason: 'staff' })
    assert.equal(cancelled.body.order.status, 'cancelled', cancelled.text)
    assert.equal((await explained(id))[0].status, 'cancelled')
  })

  test('stays active until the refund of the cancellation has succeeded', async () => {
    const { id, subscription } = await subscribe()
    const deps = openCheckout(store.app.runtime)
    const forStore: typeof deps.payments.forStore = async (...of) => {
      const real = await deps.payments.forStore(...of)
      const silent = async (what: { txn_id: string }) => {
        await real.void(what)
        return unknownResult()
      }
      return { ...real, void: silent }
    }
    const db = store.app.runtime.database.tenant('acme')
    const claim = { operation: 'cancel', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const request = { reason: 'staff', note: null, restock: true, as: 'cancel' } as const
    const actor = { name: 'merchant_key:test', correlationId: null }
    const silenced = { ...deps, payments: { ...deps.payments, forStore } }
    await assert.rejects(
      run(db, claim, (held) => cancel(silenced, db, { actor, claim: held }, id, request)),
      { code: 'payment_unconfirmed' },
    )
    assert.equal((await explained(id))[0].status, 'active')
    await store.superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
    const [due] = await claimDue(db, { operations: ['cancel'], limit: 1 })
    assert.ok(due)
    await cancelOperation.resume(deps, db, due)
    assert.equal((await explained(id))[0].status, 'cancelled')
    assert.equal((await eventsOf(subscription)).length, 1)
  })
})
