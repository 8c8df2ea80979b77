import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { makeDueExports } from '../../../src/modules/privacy/jobs.ts'
import { addVariant } from '../checkout/setup.ts'
import { keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, RETURNS, type Returns, receipt, refusal, returnsOf } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let returns: Returns

const typesOf = async (order_id: string) =>
  (await store.read(order_id)).timeline.map(({ type }: { type: string }) => type) as string[]

const eventsOf = async (order_id: string) =>
  (
    await store.superuser.query(
      `select type, data from webhook_events
        where order_id = $1 and type like 'commerce.return.%' order by id`,
      [order_id],
    )
  ).rows as { type: string; data: string }[]

describe('returns', () => {
  before(() => {
    store = shared.current
    returns = returnsOf(store)
  })

  describe('a return of a merchant', () => {
    test('is approved at once, has the number of its order, and is shown with the order', async () => {
      const order = await returns.shipped()
      const made = ok(
        await returns.create(
          order.order.id,
          [{ order_item_id: order.items[0]?.id, quantity: 1, reason: 'too small' }],
          { note: 'by telephone', instructions: 'Send it to us.' },
        ),
        201,
      ).return
      assert.deepEqual(
        [made.return_number, made.status, made.requested_by, made.refund_ids],
        [`${order.order.order_number}-R1`, 'approved', 'merchant', []],
      )
      assert.deepEqual(
        [made.lines[0].quantity, made.lines[0].received_quantity, made.lines[0].disposition],
        [1, 0, null],
      )
      assert.ok(made.approved_at)
      const read = await store.read(order.order.id)
      assert.deepEqual(read.returns, [made])
      assert.deepEqual([read.items[0].returning_quantity, read.items[0].returned_quantity], [1, 0])
      assert.equal(read.timeline.at(-1).type, 'return_created')
      assert.doesNotMatch(JSON.stringify(read.timeline), /too small|by telephone/)
      assert.deepEqual(ok(await store.shop.merchant.get(`${RETURNS}/${made.id}`)).return, made)
      const [event] = await eventsOf(order.order.id)
      assert.equal(event?.type, 'commerce.return.requested.v1')
      assert.doesNotMatch(event?.data ?? '', /too small|by telephone|Send it/)
      const audit = ok(await store.shop.merchant.get('/v1/my/audit?action=return.created'))
      assert.ok(
        audit.entries.some(({ entity }: { entity: string }) => entity === `return:${made.id}`),
      )
    })

    test('never has more units than have shipped and are in no other return', async () => {
      const order = await returns.shipped()
      const lines = (quantity: number) => [{ order_item_id: order.items[0]?.id, quantity }]
      await returns.returned(order, 1)
      const over = await returns.create(order.order.id, lines(2))
      assert.deepEqual(refusal(over), [422, 'quantity_exceeds_returnable'])
      assert.deepEqual(over.body.items, [
        { order_item_id: order.items[0]?.id, requested: 2, returnable: 1 },
      ])
      ok(await returns.create(order.order.id, lines(1)), 201)
      const none = await returns.create(order.order.id, lines(1))
      assert.deepEqual(refusal(none), [422, 'quantity_exceeds_returnable'])
      assert.equal(none.body.items[0].returnable, 0)
    })

    test('a return of the same units is made once, however many requests come at the same time', async () => {
      const order = await returns.shipped()
      const lines = [{ order_item_id: order.items[0]?.id, quantity: 2 }]
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => returns.create(order.order.id, lines)),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      assert.equal((await store.read(order.order.id)).returns.length, 1)
    })

    test('cannot exceed the shipped units, even if the checks of the service were missing', async () => {
      const order = await returns.shipped()
      const exceed = store.superuser.query(
        `update order_items set returning_quantity = shipped_quantity + 1 where order_id = $1`,
        [order.order.id],
      )
      await assert.rejects(exceed, { constraint: 'order_items_returned_check' })
    })

    test('is refused for units that have not shipped, for unknown lines, and for a line named twice', async () => {
      const { order, items } = await store.place()
      const lines = [{ order_item_id: items[0].id, quantity: 1 }]
      const open = await returns.create(order.id, lines)
      assert.deepEqual(refusal(open), [422, 'quantity_exceeds_returnable'])
      assert.deepEqual(refusal(await returns.create(randomUUID(), lines)), [404, 'order_not_found'])
      await returns.ship(order.id)
      const strange = [{ order_item_id: randomUUID(), quantity: 1 }]
      assert.deepEqual(refusal(await returns.create(order.id, strange)), [
        404,
        'order_item_not_found',
      ])
      const twice = await returns.create(order.id, [...lines, ...lines])
      assert.equal(twice.status, 400)
      assert.match(twice.text, /only once/)
      for (const bad of [[], [{ ...lines[0], quantity: 0 }], [{ ...lines[0], quantity: 1.5 }]]) {
        assert.equal((await returns.create(order.id, bad)).status, 400)
      }
    })

    test('is one of at most two hundred in its order', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 1)
      await store.superuser.query('update returns set number = 200 where id = $1', [made.id])
      const lines = [{ order_item_id: order.items[0]?.id, quantity: 1 }]
      const refused = await returns.create(order.order.id, lines)
      assert.deepEqual(refusal(refused), [409, 'limit_reached'])
      assert.equal(refused.body.limit, 'returns_per_order')
    })

    test('prevents the recall of the parcel with its units, until it is cancelled', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 1)
      const recall = () =>
        store.shop.merchant.post(`/v1/merchant/fulfillments/${order.parcels[0]}/cancel`, {
          reason: 'returned_to_sender',
        })
      const refused = await recall()
      assert.deepEqual(refusal(refused), [409, 'invalid_transition'])
      assert.equal(refused.body.reason, 'in_return')
      ok(await returns.act(made.id, 'cancel'))
      ok(await recall())
    })

    test('answers 404 for an unknown return and for one of another store, and refuses a lesser key', async () => {
      const made = await returns.returned(await returns.shipped(), 1)
      const stranger = await store.app.merchant('globex')
      for (const answer of [
        await store.shop.merchant.get(`${RETURNS}/${randomUUID()}`),
        await stranger.get(`${RETURNS}/${made.id}`),
        await stranger.post(`${RETURNS}/${made.id}/cancel`),
        await returns.act('not-an-id', 'close'),
      ]) {
        assert.deepEqual(refusal(answer), [404, 'return_not_found'])
      }
      const lesser = await store.app.merchant('acme', 'manage:own_orders')
      assert.equal((await lesser.get(RETURNS)).status, 403)
    })

    test('is found by its status and by its order', async () => {
      const order = await returns.shipped()
      const [one, two] = [await returns.returned(order, 1), await returns.returned(order, 1)]
      ok(await returns.act(two.id, 'cancel'))
      const idsOf = async (query: string) =>
        ok(await store.shop.merchant.get(`${RETURNS}?${query}`)).returns.map(
          ({ id }: { id: string }) => id,
        )
      assert.deepEqual(await idsOf(`order_id=${order.order.id}`), [two.id, one.id])
      assert.deepEqual(await idsOf(`order_id=${order.order.id}&status=cancelled`), [two.id])
      assert.deepEqual(await idsOf('order_id=nonsense'), [])
    })
  })

  describe('the states of a return', () => {
    const requested = async () => {
      const order = await returns.shipped()
      const lines = [{ order_item_id: order.items[0]?.id, quantity: 2, reason: 'too red' }]
      return { order, made: ok(await returns.request(order.order.id, lines), 201).return }
    }

    test('a request is approved, with instructions and a label that the shopper sees', async () => {
      const { order, made } = await requested()
      assert.deepEqual([made.status, made.requested_by], ['requested', 'shopper'])
      const label_url = 'https://labels.example/378282246310005.pdf'
      const guidance = { instructions: 'Use the label.', label_url }
      const approved = ok(await returns.act(made.id, 'approve', guidance)).return
      assert.deepEqual([approved.status, approved.instructions], ['approved', 'Use the label.'])
      const [seen] = (await returns.readShopper(order.order.id)).returns
      assert.deepEqual(
        [seen.instructions, seen.label_url, seen.lines[0].reason],
        ['Use the label.', label_url, 'too red'],
      )
      const again = await returns.act(made.id, 'approve')
      assert.deepEqual(refusal(again), [409, 'invalid_transition'])
      assert.deepEqual(again.body.allowed, ['receive', 'close', 'cancel', 'exchange'])
      const bad = await returns.act((await requested()).made.id, 'approve', { label_url: 'x' })
      assert.equal(bad.status, 400)
    })

    test('a request that is declined, or cancelled, frees its units', async () => {
      const { order, made } = await requested()
      assert.equal((await returns.act(made.id, 'decline')).status, 400)
      const declined = ok(await returns.act(made.id, 'decline', { reason: 'worn' })).return
      assert.deepEqual([declined.status, declined.decline_reason], ['declined', 'worn'])
      assert.equal((await store.read(order.order.id)).items[0].returning_quantity, 0)
      const next = await returns.returned(order, 2)
      assert.equal(next.return_number, `${order.order.order_number}-R2`)
      ok(await returns.act(next.id, 'cancel'))
      assert.equal((await store.read(order.order.id)).items[0].returning_quantity, 0)
      assert.deepEqual((await typesOf(order.order.id)).slice(-4), [
        'return_requested',
        'return_declined',
        'return_created',
        'return_cancelled',
      ])
      for (const verb of ['approve', 'cancel', 'close']) {
        const late = await returns.act(made.id, verb)
        assert.deepEqual(refusal(late), [409, 'invalid_transition'], verb)
        assert.deepEqual(late.body.allowed, [])
      }
      assert.deepEqual(refusal(await returns.receive(made.id, receipt(made, 1))), [
        409,
        'invalid_transition',
      ])
    })

    test('a return is closed short: units that have not come can be returned anew', async () => {
      const { order, made } = await requested()
      assert.deepEqual(refusal(await returns.act(made.id, 'close')), [409, 'invalid_transition'])
      ok(await returns.act(made.id, 'approve'))
      const part = ok(await returns.receive(made.id, receipt(made, 1))).return
      assert.equal(part.status, 'partially_received')
      assert.deepEqual(refusal(await returns.act(made.id, 'cancel')), [409, 'invalid_transition'])
      const closed = ok(await returns.act(made.id, 'close')).return
      assert.equal(closed.status, 'closed')
      const { items } = await store.read(order.order.id)
      assert.deepEqual([items[0].returning_quantity, items[0].returned_quantity], [0, 1])
      await returns.returned(order, 1)
    })
  })

  describe('a request of a shopper', () => {
    const policy = async (behavior: object) =>
      ok(await store.shop.merchant.put('/v1/my/store/manifest', { manifest: { behavior } }))
    const line = (order: { items: { id: string }[] }, quantity = 1) => [
      { order_item_id: order.items[0]?.id, quantity },
    ]
    /** Moves the parcels of an order into the past. */
    const age = (order_id: string, column: 'shipped_at' | 'delivered_at', days: number) =>
      store.superuser.query(
        `update fulfillments set ${column} = now() - make_interval(days => $2) where order_id = $1`,
        [order_id, days],
      )

    test("is made once for each key, for the shopper's own order alone", async () => {
      const order = await returns.shipped()
      const key = randomUUID()
      const first = await returns.request(order.order.id, line(order), 'ann', key)
      const again = await returns.request(order.order.id, line(order), 'ann', key)
      ok(first, 201)
      assert.deepEqual([again.status, again.text], [201, first.text])
      assert.equal(again.headers['idempotent-replayed'], 'true')
      assert.deepEqual(refusal(await returns.request(order.order.id, line(order), 'bob')), [
        404,
        'order_not_found',
      ])
      const keyless = await store.app.storefront.post(
        `/v1/tenants/acme/orders/${order.order.id}/returns`,
        { customer_ref: 'ann', lines: line(order) },
      )
      assert.deepEqual(refusal(keyless), [400, 'idempotency_key_required'])
      const other = await returns.request(order.order.id, line(order, 2), 'ann', key)
      assert.deepEqual(refusal(other), [422, 'idempotency_key_reused'])
    })

    test('is refused for a line of another order, and for more units than are left', async () => {
      const [order, other] = [await returns.shipped(), await returns.shipped()]
      assert.deepEqual(refusal(await returns.request(order.order.id, line(other))), [
        404,
        'order_item_not_found',
      ])
      ok(await returns.request(order.order.id, line(order, 2)), 201)
      assert.deepEqual(refusal(await returns.request(order.order.id, line(order))), [
        422,
        'quantity_exceeds_returnable',
      ])
      const { returnable, returns: seen } = await returns.readShopper(order.order.id)
      assert.deepEqual(returnable, [
        { order_item_id: order.items[0]?.id, quantity: 0, until: null, reason: 'nothing_left' },
      ])
      assert.equal(seen.length, 1)
      const { order: placed } = await store.place()
      assert.equal((await returns.readShopper(placed.id)).returnable[0].reason, 'not_shipped')
    })

    test("is possible for the store's number of days after the delivery, and the order says until when", async () => {
      await policy({ returns: { windowDays: 30 } })
      const order = await returns.shipped()
      ok(await store.shop.merchant.post(`/v1/merchant/fulfillments/${order.parcels[0]}/deliver`))
      const [open] = (await returns.readShopper(order.order.id)).returnable
      assert.deepEqual([open.quantity, open.reason], [2, null])
      const days = (Date.parse(open.until) - Date.now()) / DAY_MS
      assert.ok(days > 29.9 && days < 30.1, open.until)
      await age(order.order.id, 'delivered_at', 31)
      const late = await returns.request(order.order.id, line(order))
      assert.deepEqual(refusal(late), [409, 'return_window_closed'])
      assert.deepEqual([late.body.items[0].requested, late.body.items[0].returnable], [1, 0])
      const [shut] = (await returns.readShopper(order.order.id)).returnable
      assert.deepEqual([shut.quantity, shut.reason], [0, 'window_closed'])
      // A merchant is not bound by it.
      await returns.returned(order, 1)
      await policy({})
    })

    test('is counted from the shipment plus two weeks, if no delivery is known', async () => {
      await policy({ returns: { windowDays: 10 } })
      const order = await returns.shipped()
      await age(order.order.id, 'shipped_at', 23)
      ok(await returns.request(order.order.id, line(order)), 201)
      await age(order.order.id, 'shipped_at', 25)
      assert.deepEqual(refusal(await returns.request(order.order.id, line(order))), [
        409,
        'return_window_closed',
      ])
      await policy({})
    })

    test('is refused for products that are on final sale', async () => {
      const { merchant } = store.shop
      const variant = await addVariant(merchant, 1_000)
      const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 1 }] })
      const { product_id } = (await store.read(order.order.id)).items[0]
      const collection = ok(
        await merchant.post('/v1/merchant/catalog/collections', { slug: 'last', title: 'Last' }),
        201,
      ).collection
      const url = `/v1/merchant/catalog/collections/${collection.id}/products`
      ok(await merchant.put(url, { product_ids: [product_id] }))
      await policy({ returns: { finalSaleCollections: ['last'] } })
      const refused = await returns.request(order.order.id, line(order))
      assert.deepEqual(refusal(refused), [409, 'final_sale'])
      const [seen] = (await returns.readShopper(order.order.id)).returnable
      assert.deepEqual([seen.quantity, seen.reason], [0, 'final_sale'])
      await policy({})
      ok(await returns.request(order.order.id, line(order)), 201)
    })

    test('is not limited by a manifest without a policy, or with a malformed one', async () => {
      for (const given of [null, 7, { windowDays: 'x', finalSaleCollections: 3 }, [[]]]) {
        await policy({ returns: given })
        const order = await returns.shipped()
        await age(order.order.id, 'shipped_at', 900)
        ok(await returns.request(order.order.id, line(order)), 201)
      }
      await policy({})
    })

    test("shows the shopper neither the merchant's note nor the merchant's reasons", async () => {
      const order = await returns.shipped()
      const lines = [{ order_item_id: order.items[0]?.id, quantity: 1, reason: 'difficult' }]
      ok(await returns.create(order.order.id, lines, { note: 'always complains' }), 201)
      const seen = await returns.readShopper(order.order.id)
      assert.doesNotMatch(JSON.stringify(seen), /difficult|always complains/)
    })
  })

  describe('explain', () => {
    const explain = async (id: string) =>
      ok(await store.shop.merchant.get(`/v1/merchant/orders/${id}/explain`))

    test('offers a return of shipped units, and otherwise says why not', async () => {
      const { order } = await store.place()
      const reasonOf = (explained: { refused: { action: string; reason: string }[] }) =>
        explained.refused.find(({ action }) => action === 'return')?.reason
      assert.equal(reasonOf(await explain(order.id)), 'order_placed')
      const shipped = await returns.shipped()
      assert.ok((await explain(shipped.order.id)).allowed.includes('return'))
      await returns.returned(shipped, 2)
      assert.equal(reasonOf(await explain(shipped.order.id)), 'nothing_to_return')
    })
  })

  test("the free texts of a return are in the export of the person's data, and gone after an erasure", async () => {
    const customer_ref = `Zoë ${randomUUID()}`
    const order = await returns.shipped({ customer_ref })
    const item = order.items[0]?.id
    const key = randomUUID()
    const lines = [{ order_item_id: item, quantity: 1, reason: 'my secret' }]
    const made = ok(await returns.request(order.order.id, lines, customer_ref, key), 201).return
    ok(
      await returns.act(made.id, 'approve', {
        instructions: 'to Zoë',
        label_url: 'https://l.ex/z',
      }),
    )
    const received = randomUUID()
    ok(await returns.receive(made.id, receipt(made, 1), received))
    const { merchant } = store.shop
    const profile = await merchant.get(`/v1/merchant/customers/${encodeURIComponent(customer_ref)}`)
    assert.equal(ok(profile).customer.returns[0].id, made.id)
    const asked = ok(await merchant.post('/v1/my/privacy/export', { customer_ref }), 202)
    const { runtime } = store.app
    await makeDueExports(runtime.workerDatabase, {
      exportKey: runtime.key('privacy export'),
      customersKey: runtime.key('customers'),
    })
    const copy = ok(await merchant.get(`/v1/my/privacy/exports/${asked.job.id}`)).data
    const [exported] = copy.orders[0].returns
    assert.deepEqual([exported.id, exported.lines[0].reason], [made.id, 'my secret'])
    const { confirm } = ok(await merchant.post('/v1/my/privacy/erase', { customer_ref }), 202)
    const erased = await merchant.post('/v1/my/privacy/erase', { customer_ref, confirm }, keyed())
    ok(erased)
    const after = ok(await merchant.get(`${RETURNS}/${made.id}`)).return
    assert.deepEqual(
      [after.lines[0].reason, after.instructions, after.label_url],
      ['[erased]', '[erased]', null],
    )
    const kept = await store.superuser.query(
      `select response_body from idempotency_keys where key = any ($1)`,
      [[key, received]],
    )
    assert.equal(kept.rows.length, 2)
    for (const { response_body } of kept.rows) {
      assert.doesNotMatch(response_body, /my secret|to Zoë|l\.ex/)
    }
  })
})
