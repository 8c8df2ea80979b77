import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { enable } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, parcelsOf, PARCELS as url } from './setup.ts'

describe('many parcels at once', () => {
  const shared = shareOrderStore()
  let store: OrderStore
  const { packed, statusOf, tracked, buy } = parcelsOf(shared)

  before(() => {
    store = shared.current
  })

  test('need the add-on', async () => {
    const body = { orders: [{ order_id: randomUUID() }] }
    const refused = await store.shop.merchant.post(`${url}/bulk`, body)
    assert.equal(refused.status, 403)
    assert.equal(refused.body.error.code, 'feature_not_enabled')
  })

  test('are packed and shipped row by row, and one bad row does not affect the others', async () => {
    await enable(store.shop.merchant, 'bulk_fulfillment')
    const variant = await tracked(20)
    const placed = [await buy(variant, 2), await buy(variant, 3), await buy(variant, 1)]
    const [a, b, held] = placed.map(({ order }) => order.id)
    ok(await store.merchant(held as string, 'hold'))
    const gone = randomUUID()
    const orders = [
      { order_id: a, ship: true, carrier: 'DPD', tracking_number: '1' },
      { order_id: gone },
      { order_id: b, items: [{ order_item_id: placed[1]?.items[0]?.id, quantity: 1 }] },
      { order_id: held },
      { order_id: b, ship: true },
      { order_id: b },
      { order_id: 'not an id' },
    ]
    const { results } = ok(await store.shop.merchant.post(`${url}/bulk`, { orders }))
    assert.deepEqual(
      results.map((row: Record<string, unknown>) => [
        row.index,
        row.order_id,
        (row.error as { code: string } | undefined)?.code ??
          (row.fulfillment as { status: string }).status,
      ]),
      [
        [0, a, 'shipped'],
        [1, gone, 'order_not_found'],
        [2, b, 'pending'],
        [3, held, 'order_on_hold'],
        [4, b, 'shipped'],
        [5, b, 'invalid_transition'],
        [6, 'not an id', 'order_not_found'],
      ],
    )
    assert.equal(results[0].fulfillment.tracking_number, '1')
    assert.equal(await statusOf(a as string), 'shipped')
    assert.equal(await statusOf(b as string), 'partially_shipped')
    const { item } = (await store.shop.merchant.get(`/v1/merchant/inventory/${variant}`)).body
    assert.deepEqual([item.on_hand, item.allocated], [16, 2])
  })

  test('are packed however the ids are spelt, and pack the units of an order once', async () => {
    const { order, items } = await store.place()
    const [id, item] = [order.id.toUpperCase(), items[0].id.toUpperCase()]
    const made = await packed(id, { items: [{ order_item_id: item, quantity: 1 }] })
    assert.equal(made.order_id, order.id)
    const body = { orders: [{ order_id: id }, { order_id: order.id }] }
    const { results } = ok(await store.shop.merchant.post(`${url}/bulk`, body))
    assert.deepEqual(
      results.map((row: { status: string }) => row.status),
      ['ok', 'error'],
    )
  })
})
