import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, parcelsOf, PARCELS as url } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
const { pack, act, packed, statusOf, stockOf, tracked, buy } = parcelsOf(shared)

describe('fulfilment', () => {
  before(() => {
    store = shared.current
  })

  describe('a parcel', () => {
    test('moves the order and its stock along when it is packed, shipped and delivered', async () => {
      const variant = await tracked(5)
      const { order } = await buy(variant, 2)
      const parcel = await packed(order.id, { carrier: 'UPS' })
      assert.equal(parcel.fulfillment_number, `${order.order_number}-F1`)
      assert.equal(parcel.status, 'pending')
      assert.equal(parcel.location_id, 'default')
      assert.deepEqual(
        parcel.items.map(({ quantity }: { quantity: number }) => quantity),
        [2],
      )
      assert.equal(await statusOf(order.id), 'processing')
      let { on_hand, allocated } = await stockOf(variant)
      assert.deepEqual([on_hand, allocated], [5, 2], 'packing moves no stock')
      const shipped = ok(await act(parcel.id, 'ship', { tracking_number: '1Z1' })).fulfillment
      assert.equal(shipped.tracking_url, 'https://www.ups.com/track?tracknum=1Z1')
      assert.equal(await statusOf(order.id), 'shipped')
      ;({ on_hand, allocated } = await stockOf(variant))
      assert.deepEqual([on_hand, allocated], [3, 0])
      ok(await act(parcel.id, 'deliver'))
      const read = await store.read(order.id)
      assert.equal(read.order.status, 'delivered')
      assert.equal(read.fulfillments[0].status, 'delivered')
      assert.deepEqual(read.open, [])
      assert.deepEqual(read.timeline.map(({ type }: { type: string }) => type).slice(-3), [
        'packed',
        'shipped',
        'delivered',
      ])
    })

    test('ships the packed units, whatever else the request names', async () => {
      const [variant, other] = [await tracked(5), await tracked(5)]
      const { order } = await buy(variant, 2)
      const parcel = await packed(order.id)
      const theirs = await packed((await buy(other, 1)).order.id)
      const items = [{ ...parcel.items[0], variant_id: other, quantity: 1, stock_quantity: 1 }]
      const shipped = ok(
        await act(parcel.id, 'ship', {
          carrier: 'UPS',
          id: theirs.id,
          order_id: theirs.order_id,
          location_id: 'elsewhere',
          items,
          delivered_at: '2026-01-01T00:00:00Z',
        }),
      ).fulfillment
      assert.deepEqual(
        [shipped.id, shipped.items, shipped.delivered_at],
        [parcel.id, parcel.items, null],
      )
      assert.equal(await statusOf(order.id), 'shipped')
      assert.equal(await statusOf(theirs.order_id), 'processing')
      const levels = await Promise.all([variant, other].map(stockOf))
      assert.deepEqual(
        levels.map(({ on_hand, allocated }) => [on_hand, allocated]),
        [
          [3, 0],
          [5, 1],
        ],
      )
      await store.check()
    })

    test('keeps its state and its order when its tracking changes', async () => {
      const { order } = await buy(await tracked(2), 1)
      const parcel = await packed(order.id)
      const theirs = await packed((await buy(await tracked(2), 1)).order.id)
      const changed = ok(
        await store.shop.merchant.patch(`${url}/${parcel.id}/tracking`, {
          carrier: 'DPD',
          status: 'delivered',
          shipped_at: '2026-01-01T00:00:00Z',
          id: theirs.id,
        }),
      )
      assert.deepEqual(changed.ignored, ['status', 'shipped_at', 'id'])
      const read = async (id: string) =>
        ok(await store.shop.merchant.get(`${url}/${id}`)).fulfillment
      const [own, other] = [await read(parcel.id), await read(theirs.id)]
      assert.deepEqual([own.status, own.carrier, own.shipped_at], ['pending', 'DPD', null])
      assert.deepEqual([other.status, other.carrier], ['pending', null])
      await store.check()
    })

    test('is one of several, each with its own tracking, and the shopper sees them all', async () => {
      const { order, items } = await store.place({
        items: [
          { variant_id: store.shop.variants[1_000], quantity: 3 },
          { variant_id: store.shop.variants[333], quantity: 1 },
        ],
      })
      const [first, second] = items
      const one = await packed(order.id, { items: [{ order_item_id: first.id, quantity: 2 }] })
      const two = await packed(order.id, {
        items: [
          { order_item_id: first.id, quantity: 1 },
          { order_item_id: second.id, quantity: 1 },
        ],
      })
      ok(await act(one.id, 'ship', { carrier: 'DPD', tracking_number: '11' }))
      assert.equal(await statusOf(order.id), 'partially_shipped')
      ok(await act(two.id, 'ship', { tracking_url: 'https://van.example/22' }))
      assert.equal(await statusOf(order.id), 'shipped')
      ok(await act(two.id, 'deliver'))
      assert.equal(await statusOf(order.id), 'shipped', 'one is still on its way')
      const seen = await store.app.storefront.get(
        `/v1/tenants/acme/orders/${order.id}?customer_ref=ann`,
      )
      assert.deepEqual(
        ok(seen).fulfillments.map((each: Record<string, unknown>) => [
          each.status,
          each.tracking_url,
        ]),
        [
          ['shipped', 'https://tracking.dpd.de/status/en_US/parcel/11'],
          ['delivered', 'https://van.example/22'],
        ],
      )
      ok(await act(one.id, 'deliver'))
      assert.equal(await statusOf(order.id), 'delivered')
    })

    test('never has more units than are open, and packs nothing when refused', async () => {
      const variant = await tracked(3)
      const { order, items } = await buy(variant, 3)
      const [item] = items
      await packed(order.id, { items: [{ order_item_id: item?.id, quantity: 2 }] })
      const over = await pack(order.id, { items: [{ order_item_id: item?.id, quantity: 2 }] })
      assert.equal(over.status, 422)
      assert.equal(over.body.error.code, 'quantity_exceeds_open')
      assert.deepEqual(over.body.items, [
        { order_item_id: item?.id, requested: 2, open: 1, ready: 1 },
      ])
      const strange = await pack(order.id, {
        items: [{ order_item_id: randomUUID(), quantity: 1 }],
      })
      assert.equal(strange.body.error.code, 'order_item_not_found')
      await packed(order.id)
      const none = await pack(order.id)
      assert.equal(none.status, 409)
      assert.equal(none.body.reason, 'nothing_to_pack')
      const { body } = await store.shop.merchant.get(`/v1/merchant/orders/${order.id}/explain`)
      assert.deepEqual(
        body.refused.find(({ action }: { action: string }) => action === 'fulfill'),
        {
          action: 'fulfill',
          reason: 'nothing_to_pack',
          meaning: 'All units that have not shipped are in a parcel.',
        },
      )
    })

    test('a parcel of the same units is made once, however many requests come at the same time', async () => {
      const variant = await tracked(4)
      const { order } = await buy(variant, 4)
      const answers = await Promise.all(Array.from({ length: 50 }, () => pack(order.id)))
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      const { fulfillments } = await store.read(order.id)
      assert.equal(fulfillments.length, 1)
      const [{ id }] = fulfillments
      const shipped = await Promise.all(Array.from({ length: 8 }, () => act(id, 'ship')))
      assert.equal(shipped.filter(({ status }) => status === 200).length, 1)
      assert.equal((await stockOf(variant)).on_hand, 0)
    })

    test('a parcel that is cancelled before it is shipped frees its units and moves no stock', async () => {
      const variant = await tracked(2)
      const { order } = await buy(variant, 2)
      const parcel = await packed(order.id)
      const cancelled = ok(await act(parcel.id, 'cancel')).fulfillment
      assert.equal(cancelled.status, 'cancelled')
      assert.equal(await statusOf(order.id), 'placed')
      const { on_hand, allocated } = await stockOf(variant)
      assert.deepEqual([on_hand, allocated], [2, 2])
      const again = await packed(order.id)
      assert.equal(again.fulfillment_number, `${order.order_number}-F2`)
      ok(await act(again.id, 'ship'))
      const late = await act(again.id, 'ship')
      assert.equal(late.body.error.code, 'invalid_transition')
      assert.deepEqual(late.body.allowed, ['deliver', 'cancel'])
    })

    test('a parcel that was shipped is recalled with a reason: back on hand, or lost', async () => {
      const variant = await tracked(4)
      const { order, items } = await buy(variant, 4)
      const half = { items: [{ order_item_id: items[0]?.id, quantity: 2 }] }
      const [one, two] = [await packed(order.id, half), await packed(order.id, half)]
      for (const { id } of [one, two]) ok(await act(id, 'ship'))
      const bare = await act(one.id, 'cancel')
      assert.equal(bare.status, 400)
      assert.match(bare.text, /reason/)
      ok(await act(one.id, 'cancel', { reason: 'returned_to_sender' }))
      assert.equal(await statusOf(order.id), 'partially_shipped')
      let { on_hand, allocated } = await stockOf(variant)
      assert.deepEqual([on_hand, allocated], [2, 2])
      ok(await act(two.id, 'cancel', { reason: 'lost' }))
      ;({ on_hand, allocated } = await stockOf(variant))
      assert.deepEqual([on_hand, allocated], [2, 4], 'two units wait for stock')
      assert.equal(await statusOf(order.id), 'placed')
      const { open } = await store.read(order.id)
      assert.deepEqual([open[0].items[0].quantity, open[0].items[0].ready], [4, 2])
      const bought = { delta: 2, reason: 'bought again' }
      ok(await store.shop.merchant.post(`/v1/merchant/inventory/${variant}/adjust`, bought))
      ok(await act((await packed(order.id)).id, 'ship'))
      assert.equal((await stockOf(variant)).on_hand, 0)
    })

    test('a parcel of a held order is neither packed nor shipped', async () => {
      const { order } = await store.place()
      const parcel = await packed(order.id, undefined)
      ok(await store.merchant(order.id, 'hold'))
      for (const answer of [await pack(order.id), await act(parcel.id, 'ship')]) {
        assert.equal(answer.status, 409)
        assert.equal(answer.body.error.code, 'order_on_hold')
      }
      ok(await store.merchant(order.id, 'release'))
      ok(await act(parcel.id, 'ship'))
    })

    test('is cancelled with its order, and its units go back to the shelf', async () => {
      const variant = await tracked(3)
      const { order } = await buy(variant, 3)
      const parcel = await packed(order.id)
      ok(await store.merchant(order.id, 'cancel', { reason: 'customer' }))
      const { fulfillment } = ok(await store.shop.merchant.get(`${url}/${parcel.id}`))
      assert.equal(fulfillment.status, 'cancelled')
      assert.equal(fulfillment.cancel_reason, 'order_cancelled')
      assert.equal((await stockOf(variant)).available, 3)
      const late = await act(parcel.id, 'ship')
      assert.equal(late.body.error.code, 'invalid_transition')
    })

    test('a parcel that was shipped prevents the cancellation of its order', async () => {
      const { order } = await store.place()
      ok(await act((await packed(order.id)).id, 'ship'))
      const refused = await store.merchant(order.id, 'cancel', { reason: 'customer' })
      assert.equal(refused.status, 409)
      assert.equal(refused.body.reason, 'order_shipped')
    })

    test('prevents an edit from taking units that are packed', async () => {
      const variant = await tracked(3)
      const { order, items } = await buy(variant, 3)
      await packed(order.id, { items: [{ order_item_id: items[0]?.id, quantity: 2 }] })
      const edit = (quantity: number) =>
        store.merchant(order.id, 'edit', { edits: [{ order_item_id: items[0]?.id, quantity }] })
      const refused = await edit(1)
      assert.equal(refused.status, 422, refused.text)
      assert.equal(refused.body.error.code, 'quantity_exceeds_open')
      ok(await edit(2))
      assert.equal((await stockOf(variant)).available, 1)
    })

    test('a parcel that was shipped prevents edits of its order, by two codes', async () => {
      const [first, second] = [await tracked(5), await tracked(5)]
      const { order, items } = await store.place({
        items: [
          { variant_id: first, quantity: 2 },
          { variant_id: second, quantity: 2 },
        ],
      })
      const [whole, rest] = items
      const parcel = await packed(order.id, { items: [{ order_item_id: whole?.id, quantity: 2 }] })
      ok(await act(parcel.id, 'ship'))
      const edit = async (order_item_id: string | undefined, quantity: number) => {
        const answer = await store.merchant(order.id, 'edit', {
          edits: [{ order_item_id, quantity }],
        })
        return [answer.status, answer.body.error?.code]
      }
      for (const fewer of [1, 0]) {
        assert.deepEqual(await edit(whole?.id, fewer), [409, 'invalid_transition'])
      }
      for (const [line, quantity] of [
        [rest, 1],
        [rest, 0],
        [rest, 3],
        [whole, 3],
      ] as const) {
        assert.deepEqual(await edit(line?.id, quantity), [409, 'already_shipped'])
      }
      const { body } = await store.merchant(order.id, 'edit', {
        edits: [{ order_item_id: rest?.id, quantity: 1 }],
      })
      assert.equal(body.current_status, 'partially_shipped')
      assert.ok(body.allowed.includes('cancel_remaining'))
      const last = await packed(order.id, { items: [{ order_item_id: rest?.id, quantity: 2 }] })
      ok(await act(last.id, 'ship'))
      assert.deepEqual(
        await edit(rest?.id, 3),
        [409, 'invalid_transition'],
        'all of it has shipped',
      )
    })

    test('can be corrected: tracking changes after it was shipped, earlier events do not', async () => {
      const { order } = await store.place()
      const parcel = await packed(order.id)
      ok(await act(parcel.id, 'ship', { carrier: 'UPS', tracking_number: '1' }))
      const patched = await store.shop.merchant.send('PATCH', `${url}/${parcel.id}/tracking`, {
        tracking_number: '2',
      })
      assert.match(ok(patched).fulfillment.tracking_url, /tracknum=2$/)
      const future = await act((await packed((await store.place()).order.id)).id, 'ship', {
        shipped_at: '2999-01-01T00:00:00Z',
      })
      assert.equal(future.status, 400)
      assert.match(future.text, /future/)
    })

    test('is one of at most a thousand in its order, cancelled ones included', async () => {
      const { order } = await store.place()
      await act((await packed(order.id)).id, 'cancel')
      await store.superuser.query('update fulfillments set number = 1000 where order_id = $1', [
        order.id,
      ])
      const refused = await pack(order.id)
      assert.equal(refused.status, 409)
      assert.equal(refused.body.error.code, 'limit_reached')
      assert.equal(refused.body.limit, 'parcels_per_order')
    })

    test('may have a tracking number that looks like a card number', async () => {
      const { order } = await store.place()
      const parcel = await packed(order.id)
      const number = { carrier: 'FedEx', tracking_number: '378282246310005' }
      assert.match(
        ok(await act(parcel.id, 'ship', number)).fulfillment.tracking_url,
        /378282246310005$/,
      )
    })

    test('answers 404 for an unknown parcel and for one of another store', async () => {
      const { order } = await store.place()
      const { id } = await packed(order.id)
      const stranger = await store.app.merchant('globex')
      for (const answer of [
        await store.shop.merchant.get(`${url}/${randomUUID()}`),
        await stranger.get(`${url}/${id}`),
        await stranger.post(`${url}/${id}/ship`),
        await act('not-an-id', 'ship'),
      ]) {
        assert.equal(answer.status, 404)
        assert.equal(answer.body.error.code, 'fulfillment_not_found')
      }
      const lesser = await store.app.merchant('acme', 'manage:own_orders')
      assert.equal((await lesser.get(url)).status, 403)
    })

    test('emits an event with the order and the parcel', async () => {
      const { order } = await store.place()
      const parcel = await packed(order.id)
      ok(await act(parcel.id, 'ship'))
      ok(await act(parcel.id, 'deliver'))
      const { rows } = await store.superuser.query(
        `select type, data from webhook_events where order_id = $1 order by id`,
        [order.id],
      )
      assert.deepEqual(
        rows.map(({ type }) => type),
        ['commerce.order.placed.v1', 'commerce.order.shipped.v1', 'commerce.order.delivered.v1'],
      )
      assert.equal(JSON.parse(rows[1].data).fulfillment.id, parcel.id)
      assert.equal(JSON.parse(rows[2].data).order.status, 'delivered')
    })
  })
})
