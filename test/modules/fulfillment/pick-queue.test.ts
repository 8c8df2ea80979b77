import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, parcelsOf, PARCELS as url } from './setup.ts'

describe('what is to be packed', () => {
  const shared = shareOrderStore()
  let store: OrderStore
  const { pack, act, packed, tracked, buy } = parcelsOf(shared)

  before(() => {
    store = shared.current
  })

  describe('units at several locations', () => {
    test("are packed into a parcel for each location, from their own order's allocation alone", async () => {
      const { merchant } = store.shop
      ok(await merchant.post('/v1/merchant/inventory/locations', { id: 'east', name: 'East' }), 201)
      const variant = await tracked(2)
      ok(
        await merchant.post(`/v1/merchant/inventory/${variant}/adjust`, {
          location_id: 'east',
          set_on_hand: 3,
          reason: 'count',
        }),
      )
      const { order } = await buy(variant, 4)
      const other = await buy(variant, 1)
      const { open } = await store.read(order.id)
      assert.deepEqual(
        open.map((each: { location_id: string; items: { ready: number }[] }) => [
          each.location_id,
          each.items[0]?.ready,
        ]),
        [
          ['default', 2],
          ['east', 2],
        ],
      )
      const wrong = await pack(order.id, { location_id: 'nowhere' })
      assert.equal(wrong.status, 422)
      const { fulfillments } = ok(await pack(order.id), 201)
      assert.equal(fulfillments.length, 2)
      for (const { id } of fulfillments) ok(await act(id, 'ship'))
      const last = await packed(other.order.id)
      assert.equal(last.location_id, 'east')
      ok(await act(last.id, 'ship'))
      const { item } = (await merchant.get(`/v1/merchant/inventory/${variant}`)).body
      assert.deepEqual([item.on_hand, item.allocated], [0, 0])
    })
  })

  describe('backordered units', () => {
    test('wait for stock, and new stock serves the oldest order first', async () => {
      const { merchant } = store.shop
      const variant = await tracked(1)
      ok(
        await merchant.put(`/v1/merchant/inventory/${variant}`, {
          track_inventory: true,
          allow_backorder: true,
        }),
      )
      const [first, second, third] = [
        await buy(variant, 2),
        await buy(variant, 2),
        await buy(variant, 1),
      ]
      const readyOf = async ({ order }: { order: { id: string } }) =>
        (await store.read(order.id)).open[0].items[0].ready as number
      const allReady = async () => [
        await readyOf(first),
        await readyOf(second),
        await readyOf(third),
      ]
      assert.deepEqual(await allReady(), [1, 0, 0])
      const refused = await pack(third.order.id)
      assert.equal(refused.status, 422)
      const arrive = async (delta: number) =>
        ok(
          await merchant.post(`/v1/merchant/inventory/${variant}/adjust`, {
            delta,
            reason: 'came',
          }),
        )
      await arrive(2)
      assert.deepEqual(await allReady(), [2, 1, 0])
      // Packed units are on the table: no other order counts on them, and they stay ready.
      const parcel = await packed(second.order.id)
      assert.equal(parcel.items[0].quantity, 1)
      assert.deepEqual(await allReady(), [2, 0, 0])
      ok(await store.merchant(first.order.id, 'cancel', { reason: 'customer' }))
      assert.equal(await readyOf(second), 1)
      assert.equal(await readyOf(third), 1)
    })
  })

  describe('the pick queue', () => {
    test('lists the orders with open units and no hold, the oldest first', async () => {
      const before = ok(await store.shop.merchant.get(`${url}/queue?limit=200`)).orders.length
      const [one, two, three] = [await store.place(), await store.place(), await store.place()]
      ok(await store.merchant(two.order.id, 'hold'))
      await packed(three.order.id, { items: [{ order_item_id: three.items[0].id, quantity: 1 }] })
      const { orders } = ok(await store.shop.merchant.get(`${url}/queue?limit=200`))
      const added = orders.slice(before)
      assert.deepEqual(
        added.map((each: { order_id: string }) => each.order_id),
        [one.order.id, three.order.id],
      )
      assert.deepEqual(added[1].open[0].items[0].quantity, 1)
      ok(await store.merchant(one.order.id, 'refunds', {}), 201)
      const after = ok(await store.shop.merchant.get(`${url}/queue?limit=200`)).orders
      assert.equal(after.length, before + 1, 'a refunded order is not shipped')
    })
  })

  describe('the pick queue of a location', () => {
    test('lists the orders with units to pack there, and only these units', async () => {
      const { merchant } = store.shop
      const north = `l-${randomUUID()}`
      ok(await merchant.post('/v1/merchant/inventory/locations', { id: north, name: 'N' }), 201)
      const variant = await tracked(1)
      const adjust = { location_id: north, set_on_hand: 9, reason: 'count' }
      ok(await merchant.post(`/v1/merchant/inventory/${variant}/adjust`, adjust))
      const split = await buy(variant, 10)
      await merchant.post(`/v1/merchant/inventory/${variant}/adjust`, { delta: 5, reason: 'came' })
      const here = await buy(variant, 1)
      await merchant.post(`/v1/merchant/inventory/${variant}/adjust`, {
        ...adjust,
        set_on_hand: 14,
      })
      const there = await buy(variant, 5)
      const untracked = await store.place()
      const queueAt = async (location_id: string, more = '') => {
        const { orders } = ok(
          await merchant.get(`${url}/queue?limit=100&location_id=${location_id}${more}`),
        )
        return orders as { order_id: string; open: { location_id: string }[] }[]
      }
      const idsAt = async (location_id: string) =>
        (await queueAt(location_id)).map(({ order_id }) => order_id)
      assert.deepEqual(await idsAt(north), [split.order.id, there.order.id])
      const [first] = await queueAt(north, '&limit=1')
      assert.deepEqual(
        first?.open.map(({ location_id }) => location_id),
        [north],
      )
      const atDefault = await idsAt('default')
      for (const { order } of [split, here, untracked]) assert.ok(atDefault.includes(order.id))
      assert.ok(!atDefault.includes(there.order.id))
      const one = ok(await merchant.get(`${url}/queue?limit=1&location_id=${north}`))
      const next = `${url}/queue?limit=1&location_id=${north}&after=${one.next_after}`
      assert.deepEqual(ok(await merchant.get(next)).orders[0].order_id, there.order.id)
      ok(await store.merchant(there.order.id, 'hold'))
      await packed(split.order.id, { location_id: north })
      assert.deepEqual(await idsAt(north), [], 'what is packed or held is not to be picked')
      assert.ok((await idsAt('default')).includes(split.order.id))
      assert.deepEqual(await idsAt('nowhere'), [])
      ok(await store.merchant(there.order.id, 'release'))
    })
  })
})
