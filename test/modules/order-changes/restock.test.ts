import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { refund } from '../../harness/operations.ts'
import { addVariant, stock } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()
let store: OrderStore

const bought = async (quantity: number, on_hand = quantity) => {
  const variant = await addVariant(store.shop.merchant, 1_000)
  await stock(store.shop.merchant, variant, on_hand)
  const { order, items } = await store.place({ items: [{ variant_id: variant, quantity }] })
  return { variant, id: order.id as string, order_item_id: items[0].id as string }
}
const stockOf = async (variant: string) => {
  const { body } = await store.shop.merchant.get(`/v1/merchant/inventory/${variant}`)
  const { on_hand, allocated, available } = body.item
  return { on_hand, allocated, available }
}
const pack = (id: string, body?: object) =>
  store.shop.merchant.post(`/v1/merchant/orders/${id}/fulfillments`, body)

describe('a refund of units that have not shipped', () => {
  before(() => {
    store = shared.current
  })

  test('leaves the units to be shipped without `restock`', async () => {
    const { variant, id, order_item_id } = await bought(2)
    const answer = await store.merchant(id, 'refunds', { items: [{ order_item_id, quantity: 1 }] })
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.refund.items[0].restocked_quantity, 0)
    assert.deepEqual(await stockOf(variant), { on_hand: 2, allocated: 2, available: 0 })
    assert.equal((await store.read(id)).open[0].items[0].quantity, 2)
  })

  test('puts the units back to stock with `restock`, and they are not shipped any more', async () => {
    const { variant, id, order_item_id } = await bought(3)
    const body = { items: [{ order_item_id, quantity: 1 }], restock: true }
    const answer = await store.merchant(id, 'refunds', body)
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.refund.items[0].restocked_quantity, 1)
    assert.deepEqual(await stockOf(variant), { on_hand: 3, allocated: 2, available: 1 })
    const read = await store.read(id)
    assert.deepEqual([read.items[0].restocked_quantity, read.open[0].items[0].quantity], [1, 2])
    const over = await pack(id, { items: [{ order_item_id, quantity: 3 }] })
    assert.equal(over.body.error.code, 'quantity_exceeds_open')
    const parcel = await pack(id)
    assert.equal(parcel.body.fulfillment.items[0].quantity, 2)
    const url = `/v1/merchant/fulfillments/${parcel.body.fulfillment.id}/ship`
    assert.equal((await store.shop.merchant.post(url)).status, 200)
    const { order } = await store.read(id)
    assert.deepEqual([order.fulfillment_status, order.status], ['shipped', 'partially_refunded'])
    const queue = await store.shop.merchant.get('/v1/merchant/fulfillments/queue?limit=200')
    assert.doesNotMatch(queue.text, new RegExp(id))
    await store.check()
  })

  test('is refused for units that are packed or shipped, and without units', async () => {
    const { id, order_item_id } = await bought(2)
    assert.equal((await pack(id, { items: [{ order_item_id, quantity: 1 }] })).status, 201)
    const body = { items: [{ order_item_id, quantity: 2 }], restock: true }
    for (const verb of ['refunds', 'refunds/preview']) {
      const refusal = await store.merchant(id, verb, body)
      assert.equal(refusal.status, 422, refusal.text)
      assert.equal(refusal.body.error.code, 'quantity_exceeds_open')
      assert.deepEqual(refusal.body.items, [{ order_item_id, requested: 2, open: 1, ready: 1 }])
      const bare = await store.merchant(id, verb, { restock: true })
      assert.equal(bare.status, 400, bare.text)
    }
  })

  test('a refund of all units leaves none to ship, and none to be returned', async () => {
    const { variant, id, order_item_id } = await bought(2)
    const body = { items: [{ order_item_id, quantity: 2 }], restock: true }
    assert.equal((await store.merchant(id, 'refunds', body)).status, 201)
    assert.deepEqual(await stockOf(variant), { on_hand: 2, allocated: 0, available: 2 })
    const { order, open } = await store.read(id)
    assert.deepEqual([order.status, order.fulfillment_status, open], ['refunded', 'cancelled', []])
  })

  test('a refund of units that the gateway refuses leaves the units to be shipped', async () => {
    const { variant, id, order_item_id } = await bought(2)
    const real = openCheckout(store.app.runtime)
    const deps = {
      ...real,
      payments: {
        ...real.payments,
        forStore: async (...of: Parameters<typeof real.payments.forStore>) => ({
          ...(await real.payments.forStore(...of)),
          refund: async () => refused('processing_error'),
          void: async () => refused('processing_error'),
        }),
      },
    }
    const db = store.app.runtime.database.tenant('acme')
    const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const body = { items: [{ order_item_id, quantity: 1 }], restock: true }
    const answer = await run(db, claim, (held) =>
      refund(deps, db, { actor: { name: 'test', correlationId: null }, claim: held }, id, {
        by: 'merchant',
        body,
      }),
    )
    assert.equal(answer.status, 409, answer.body)
    const { items, open } = await store.read(id)
    assert.deepEqual([items[0].restocked_quantity, items[0].refunded_quantity], [0, 0])
    assert.equal(open[0].items[0].quantity, 2)
    assert.deepEqual(await stockOf(variant), { on_hand: 2, allocated: 2, available: 0 })
  })

  test('a refund and a parcel of the same units at the same time: each unit is refunded or packed, never both', async () => {
    const { variant, id, order_item_id } = await bought(2)
    const body = { items: [{ order_item_id, quantity: 2 }], restock: true }
    const answers = await Promise.all([
      store.merchant(id, 'refunds', body),
      pack(id),
      store.merchant(id, 'refunds', body),
      pack(id),
    ])
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    const { on_hand } = await stockOf(variant)
    assert.equal(on_hand, 2)
    await store.check()
  })
})
