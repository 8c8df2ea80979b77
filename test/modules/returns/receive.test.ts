import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Answer } from '../../harness/app.ts'
import { addVariant } from '../checkout/setup.ts'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, RETURNS, type Returns, receipt, refusal, returnsOf } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let returns: Returns

const SHIPPING = {
  shipping: { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 },
}
const TAX = { tax: { provider: 'flat_rate', rate_bps: 777 } }

const statusOf = async (id: string) => (await store.read(id)).order.status as string
const centsOf = (answer: Answer['body']) => answer.refund?.amount_cents ?? 0

describe('a receipt', () => {
  before(() => {
    store = shared.current
    returns = returnsOf(store)
  })

  test('puts the units on hand, refunds them, and closes the return', async () => {
    const variant = await returns.tracked(5)
    const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 2 }] })
    const made = await returns.returned(order, 2)
    const answer = ok(await returns.receive(made.id, receipt(made, 2)))
    assert.deepEqual(
      [answer.return.status, answer.return.lines[0].disposition, centsOf(answer), answer.failure],
      ['closed', 'restock', 2_000, null],
    )
    assert.ok(answer.return.received_at && answer.return.closed_at)
    assert.deepEqual(answer.return.refund_ids, [answer.refund.refund_id])
    assert.deepEqual(
      answer.movements.map((each: Record<string, unknown>) => [
        each.kind,
        each.quantity,
        each.location_id,
        each.return_id,
        each.order_id,
      ]),
      [['received', 2, 'default', made.id, order.order.id]],
    )
    assert.equal((await returns.stockOf(variant)).on_hand, 5)
    const read = await store.read(order.order.id)
    assert.equal(read.order.status, 'refunded')
    assert.deepEqual([read.items[0].returning_quantity, read.items[0].returned_quantity], [0, 2])
    assert.equal(read.items[0].refunded_quantity, 2)
    assert.equal(await store.net(order.order.id), 0)
    const types = read.timeline.map(({ type }: { type: string }) => type).slice(-2)
    assert.deepEqual(types, ['return_received', 'refunded'])
    const { rows } = await store.superuser.query(
      `select data from webhook_events
        where order_id = $1 and type = 'commerce.return.received.v1'`,
      [order.order.id],
    )
    assert.equal(rows.length, 1)
    const event = JSON.parse(rows[0].data)
    assert.deepEqual(
      [event.order.status, event.return.status, event.refund.amount_cents],
      ['refunded', 'closed', 2_000],
    )
  })

  test('a receipt of a part makes the order partially refunded; several receipts, each under its key, add up', async () => {
    const order = await returns.shipped({
      items: [{ variant_id: store.shop.variants[333], quantity: 3 }],
      ...TAX,
    })
    const made = await returns.returned(order, 3)
    const key = randomUUID()
    const first = await returns.receive(made.id, receipt(made, 1), key)
    assert.equal(ok(first).return.status, 'partially_received')
    assert.equal(await statusOf(order.order.id), 'partially_refunded')
    const replay = await returns.receive(made.id, receipt(made, 1), key)
    assert.deepEqual([replay.text, replay.headers['idempotent-replayed']], [first.text, 'true'])
    const other = await returns.receive(made.id, receipt(made, 2), key)
    assert.deepEqual(refusal(other), [422, 'idempotency_key_reused'])
    const second = ok(await returns.receive(made.id, receipt(made, 1)))
    const third = ok(await returns.receive(made.id, receipt(made, 1)))
    assert.equal(third.return.status, 'closed')
    const cents = [first.body, second, third].map(centsOf)
    assert.equal(
      cents.reduce((sum, each) => sum + each, 0),
      order.order.total_cents,
      'the last unit takes the remainder',
    )
    assert.equal(third.return.refund_ids.length, 3)
    assert.equal(third.return.lines[0].refund_cents, order.order.total_cents)
    assert.equal(await statusOf(order.order.id), 'refunded')
    const late = await returns.receive(made.id, receipt(made, 1))
    assert.deepEqual(refusal(late), [409, 'invalid_transition'])
  })

  test('never accepts more than is expected, and only lines of the return', async () => {
    const order = await returns.shipped()
    const made = await returns.returned(order, 1)
    const over = await returns.receive(made.id, receipt(made, 2))
    assert.deepEqual(refusal(over), [422, 'quantity_exceeds_expected'])
    assert.deepEqual(over.body.lines, [
      { return_line_id: made.lines[0].id, requested: 2, expected: 1 },
    ])
    const twice = receipt(made, 1)
    const both = {
      ...twice,
      lines: [...twice.lines, { ...twice.lines[0], disposition: 'damaged' }],
    }
    assert.deepEqual(refusal(await returns.receive(made.id, both)), [
      422,
      'quantity_exceeds_expected',
    ])
    const strange = receipt({ lines: [{ id: randomUUID() }] }, 1)
    assert.deepEqual(refusal(await returns.receive(made.id, strange)), [
      404,
      'return_line_not_found',
    ])
    const nowhere = receipt(made, 1, { location_id: 'nowhere' })
    assert.deepEqual(refusal(await returns.receive(made.id, nowhere)), [404, 'location_not_found'])
    assert.deepEqual(refusal(await returns.preview(made.id, nowhere)), [404, 'location_not_found'])
    for (const bad of [
      { ...receipt(made, 1), refund: {} },
      { ...receipt(made, 1), refund: { method: 'original', fee: 1 } },
      receipt(made, 1, { disposition: 'eaten' }),
      receipt(made, 0),
      { ...receipt(made, 1), lines: [] },
      receipt(made, 1, { refund: { method: 'none', restocking_fee_cents: 1 } }),
    ]) {
      const refused = await returns.receive(made.id, bad)
      assert.equal(refused.status, 400, refused.text)
    }
    const keyless = await store.shop.merchant.post(
      `${RETURNS}/${made.id}/receive`,
      receipt(made, 1),
    )
    assert.deepEqual(refusal(keyless), [400, 'idempotency_key_required'])
    assert.equal((await store.read(order.order.id)).items[0].returned_quantity, 0)
    ok(await returns.receive(made.id, receipt(made, 1)))
  })

  describe('gives each unit a disposition', () => {
    test('damaged and missing units never come on hand, and missing ones are not refunded', async () => {
      const variant = await returns.tracked(4)
      const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 4 }] })
      const made = await returns.returned(order, 4)
      const return_line_id = made.lines[0].id
      const answer = ok(
        await returns.receive(made.id, {
          lines: [
            { return_line_id, received_quantity: 1, disposition: 'restock' },
            { return_line_id, received_quantity: 2, disposition: 'damaged' },
            { return_line_id, received_quantity: 1, disposition: 'missing' },
          ],
          refund: { method: 'original' },
        }),
      )
      const [line] = answer.return.lines
      assert.deepEqual(
        [line.restocked_quantity, line.damaged_quantity, line.missing_quantity, line.disposition],
        [1, 2, 1, 'mixed'],
      )
      assert.deepEqual([line.received_quantity, line.refunded_quantity], [3, 3])
      assert.deepEqual([answer.return.status, centsOf(answer)], ['closed', 3_000])
      assert.equal((await returns.stockOf(variant)).on_hand, 1)
      const { items } = await store.read(order.order.id)
      assert.deepEqual(
        [items[0].returning_quantity, items[0].returned_quantity],
        [0, 3],
        'a missing unit has not come back: it can be returned when it is found',
      )
      await returns.returned(order, 1)
    })

    test('quarantined units are held aside until they are resolved, back to stock or not', async () => {
      const variant = await returns.tracked(3)
      ok(
        await store.shop.merchant.post('/v1/merchant/inventory/locations', {
          id: 'bench',
          name: 'Bench',
        }),
        201,
      )
      const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 3 }] })
      const made = await returns.returned(order, 3)
      const aside = receipt(made, 3, { disposition: 'quarantine', location_id: 'bench' })
      const received = ok(await returns.receive(made.id, aside))
      assert.deepEqual(
        [received.return.status, received.return.lines[0].quarantined_quantity, received.movements],
        ['received', 3, []],
      )
      assert.equal(centsOf(received), 3_000, 'the money does not wait')
      assert.equal((await returns.stockOf(variant)).on_hand, 0)
      const resolve = (quantity: number, disposition: string) =>
        returns.act(made.id, 'resolve', {
          lines: [{ return_line_id: made.lines[0].id, quantity, disposition }],
        })
      assert.deepEqual(refusal(await resolve(4, 'restock')), [422, 'quantity_exceeds_expected'])
      const one = ok(await resolve(2, 'restock'))
      assert.deepEqual(
        [one.return.status, one.movements.map((m: { location_id: string }) => m.location_id)],
        ['received', ['bench']],
      )
      assert.equal((await returns.stockOf(variant)).on_hand, 2)
      const two = ok(await resolve(1, 'damaged'))
      assert.deepEqual([two.return.status, two.movements], ['closed', []])
      assert.deepEqual(
        [two.return.lines[0].restocked_quantity, two.return.lines[0].damaged_quantity],
        [2, 1],
      )
      assert.deepEqual(refusal(await resolve(1, 'restock')), [422, 'quantity_exceeds_expected'])
      const strange = await returns.act(made.id, 'resolve', {
        lines: [{ return_line_id: randomUUID(), quantity: 1, disposition: 'restock' }],
      })
      assert.deepEqual(refusal(strange), [404, 'return_line_not_found'])
      const bad = await returns.act(made.id, 'resolve', {
        lines: [{ return_line_id: made.lines[0].id, quantity: 1, disposition: 'missing' }],
      })
      assert.equal(bad.status, 400)
    })

    test('units of a variant that is not tracked move no stock', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 1)
      const answer = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.deepEqual([answer.movements, answer.return.lines[0].restocked_quantity], [[], 1])
    })

    test('units that are on hand again serve the order that waits for stock', async () => {
      const variant = await returns.tracked(1)
      const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 1 }] })
      ok(
        await store.shop.merchant.put(`/v1/merchant/inventory/${variant}`, {
          track_inventory: true,
          allow_backorder: true,
        }),
      )
      const waiting = await store.place({ items: [{ variant_id: variant, quantity: 1 }] })
      const readyOf = async () =>
        (await store.read(waiting.order.id)).open[0].items[0].ready as number
      assert.equal(await readyOf(), 0)
      const made = await returns.returned(order, 1)
      ok(await returns.receive(made.id, receipt(made, 1)))
      assert.equal(await readyOf(), 1)
      await returns.ship(waiting.order.id)
    })
  })

  describe('settles the money', () => {
    test('refunds nothing with the method none, and a later refund of the order is still possible', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 2)
      const none = receipt(made, 1, { refund: { method: 'none' } })
      const answer = ok(await returns.receive(made.id, none))
      assert.deepEqual([answer.refund, await statusOf(order.order.id)], [null, 'shipped'])
      // What is refunded now is for the unit that came without money; the next one is refunded as well.
      const units = { items: [{ order_item_id: order.items[0]?.id, quantity: 1 }] }
      ok(await store.merchant(order.order.id, 'refunds', units), 201)
      const second = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.deepEqual([centsOf(second), second.return.lines[0].refund_cents], [1_000, 1_000])
      assert.equal(await store.net(order.order.id), 0)
    })

    test('a receipt of a unit that was refunded before it came pays nothing', async () => {
      const order = await returns.shipped()
      const units = { items: [{ order_item_id: order.items[0]?.id, quantity: 1 }] }
      ok(await store.merchant(order.order.id, 'refunds', units), 201)
      const made = await returns.returned(order, 2)
      const seen = ok(await returns.preview(made.id, receipt(made, 2)))
      assert.equal(seen.lines[0].already_refunded_quantity, 1)
      const first = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.deepEqual([first.refund, first.return.lines[0].already_refunded_quantity], [null, 1])
      const second = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.equal(centsOf(second), 1_000)
      assert.equal(await store.net(order.order.id), 0)
      assert.equal((await store.read(order.order.id)).order.refunded_cents, 2_000)
    })

    test('a receipt of an order that was refunded in full takes the goods back all the same', async () => {
      const variant = await returns.tracked(2)
      const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 2 }] })
      ok(await store.merchant(order.order.id, 'refunds', {}), 201)
      assert.equal(await statusOf(order.order.id), 'refunded')
      const made = await returns.returned(order, 2)
      const answer = ok(await returns.receive(made.id, receipt(made, 2)))
      assert.deepEqual([answer.refund, answer.return.status], [null, 'closed'])
      assert.equal((await returns.stockOf(variant)).on_hand, 2)
    })

    test('a receipt of an order that was refunded in part by amount pays the rest of the goods, and no more', async () => {
      const order = await returns.shipped({ ...SHIPPING })
      const { total_cents } = order.order
      ok(await store.merchant(order.order.id, 'refunds', { amount_cents: 1_500 }), 201)
      const made = await returns.returned(order, 2)
      const answer = ok(await returns.receive(made.id, receipt(made, 2)))
      const left = total_cents - 1_500 - centsOf(answer)
      assert.ok(centsOf(answer) < 1_000 && left > 0, `${centsOf(answer)} of ${total_cents}`)
      assert.equal(answer.refund.shipping_cents, 0)
    })

    test('a receipt deducts a restocking fee, which no later unit gets back', async () => {
      const order = await returns.shipped({
        items: [{ variant_id: store.shop.variants[333], quantity: 2 }],
        ...TAX,
      })
      const made = await returns.returned(order, 2)
      const worth = ok(await returns.preview(made.id, receipt(made, 1))).refund.amount_cents
      const fee = { refund: { method: 'original', restocking_fee_cents: 100 } }
      const first = ok(await returns.receive(made.id, receipt(made, 1, fee)))
      assert.deepEqual(
        [centsOf(first), first.return.lines[0].refund_cents],
        [worth - 100, worth - 100],
      )
      const second = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.equal(centsOf(first) + centsOf(second), order.order.total_cents - 100)
      assert.equal(await statusOf(order.order.id), 'partially_refunded')
    })

    test('a receipt never pays below zero: a fee above the price of the units is refused, one equal to it refunds nothing', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 2)
      const withFee = (restocking_fee_cents: number) =>
        receipt(made, 1, { refund: { method: 'original', restocking_fee_cents } })
      const over = await returns.receive(made.id, withFee(1_001))
      assert.deepEqual(refusal(over), [422, 'fee_exceeds_refund'])
      assert.equal(over.body.goods_cents, 1_000)
      assert.deepEqual(refusal(await returns.preview(made.id, withFee(1_001))), [
        422,
        'fee_exceeds_refund',
      ])
      const even = ok(await returns.receive(made.id, withFee(1_000)))
      assert.deepEqual([even.refund, even.return.status], [null, 'partially_received'])
    })

    test('a receipt refunds shipping up to what is left of it', async () => {
      const order = await returns.shipped({ ...SHIPPING })
      const made = await returns.returned(order, 2)
      const withShipping = (refund_shipping_cents: number) =>
        receipt(made, 1, { refund: { method: 'original', refund_shipping_cents } })
      const over = await returns.receive(made.id, withShipping(500))
      assert.deepEqual(refusal(over), [422, 'amount_exceeds_refundable'])
      assert.equal(over.body.refundable_cents, 499)
      const first = ok(await returns.receive(made.id, withShipping(300)))
      assert.deepEqual([centsOf(first), first.refund.shipping_cents], [1_300, 300])
      assert.deepEqual(refusal(await returns.receive(made.id, withShipping(200))), [
        422,
        'amount_exceeds_refundable',
      ])
      const second = ok(await returns.receive(made.id, withShipping(199)))
      assert.equal(centsOf(second), 1_199)
      assert.equal(await statusOf(order.order.id), 'refunded')
    })

    test('a receipt refunds to the tenders that paid, the card first, or all of it to store credit', async () => {
      const { code } = await giveBalances(store, 300, 700)
      const order = await returns.shipped({ apply_store_credit: true, gift_card_code: code })
      const made = await returns.returned(order, 2)
      const first = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.deepEqual(
        first.refund.tenders.map((each: Record<string, unknown>) => [
          each.tender,
          each.amount_cents,
        ]),
        [['card', 1_000]],
      )
      const credit = { refund: { method: 'store_credit' } }
      const second = ok(await returns.receive(made.id, receipt(made, 1, credit)))
      assert.equal(second.refund.method, 'store_credit')
      assert.ok(
        second.refund.tenders.every((each: { tender: string }) => each.tender === 'store_credit'),
      )
      const account = ok(await store.shop.merchant.get('/v1/merchant/store-credit/ann'))
      assert.ok(JSON.stringify(account).includes('"balance_cents":1000'), JSON.stringify(account))
    })

    test('a receipt of a free order moves no money', async () => {
      const free = await addVariant(store.shop.merchant, 0)
      const order = await returns.shipped({ items: [{ variant_id: free, quantity: 1 }] })
      const made = await returns.returned(order, 1)
      const answer = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.deepEqual([answer.refund, answer.return.status], [null, 'closed'])
    })

    test('a receipt refunds no disputed card, unless no refund is wanted', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 1)
      const url = `/v1/stores/acme/orders/${order.order.id}/dispute`
      ok(await store.app.operator.post(url, { outcome: 'opened' }))
      assert.deepEqual(refusal(await returns.receive(made.id, receipt(made, 1))), [409, 'disputed'])
      assert.deepEqual(refusal(await returns.preview(made.id, receipt(made, 1))), [409, 'disputed'])
      ok(await returns.receive(made.id, receipt(made, 1, { refund: { method: 'none' } })))
    })
  })

  test('a receipt of a held order that is partly shipped keeps the hold', async () => {
    const { order, items } = await store.place()
    await returns.ship(order.id, { items: [{ order_item_id: items[0].id, quantity: 1 }] })
    ok(await store.merchant(order.id, 'hold'))
    const made = ok(
      await returns.create(order.id, [{ order_item_id: items[0].id, quantity: 1 }]),
      201,
    ).return
    ok(await returns.receive(made.id, receipt(made, 1)))
    assert.equal(await statusOf(order.id), 'on_hold')
  })

  describe('at the same time as another', () => {
    const settleAll = (calls: Promise<Answer>[]) => Promise.all(calls)
    const countOf = (answers: readonly Answer[], status: number) =>
      answers.filter((each) => each.status === status).length

    test('receipt of the same units receives and refunds each unit once', async () => {
      const variant = await returns.tracked(2)
      const order = await returns.shipped({ items: [{ variant_id: variant, quantity: 2 }] })
      const made = await returns.returned(order, 2)
      const answers = await settleAll(
        Array.from({ length: 6 }, () => returns.receive(made.id, receipt(made, 1))),
      )
      assert.equal(countOf(answers, 200), 2, answers.map(({ text }) => text).join('\n'))
      assert.equal((await returns.stockOf(variant)).on_hand, 2)
      assert.equal(await store.net(order.order.id), 0)
      await store.check()
    })

    test('receipt under the same key is carried out once', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 2)
      const key = randomUUID()
      const answers = await settleAll(
        Array.from({ length: 5 }, () => returns.receive(made.id, receipt(made, 1), key)),
      )
      assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(ok(answers[0] as Answer).return.lines[0].received_quantity, 1)
      assert.equal(await store.net(order.order.id), 1_000)
    })

    test('refund, resolution, cancellation and closing refund nothing twice', async () => {
      for (let run = 0; run < 4; run++) {
        const order = await returns.shipped()
        const made = await returns.returned(order, 2)
        const units = { items: [{ order_item_id: order.items[0]?.id, quantity: 1 }] }
        await settleAll([
          returns.receive(made.id, receipt(made, 1)),
          store.merchant(order.order.id, 'refunds', units),
          returns.act(made.id, 'cancel'),
          returns.act(made.id, 'close'),
          returns.receive(made.id, receipt(made, 1, { disposition: 'quarantine' })),
          store.merchant(order.order.id, 'cancel', { reason: 'customer' }),
        ])
        const { order: after } = await store.read(order.order.id)
        assert.ok(after.refunded_cents <= 2_000)
        assert.equal(await store.net(order.order.id), 2_000 - after.refunded_cents)
        await store.check()
      }
    })
  })

  describe('whose answer was lost', () => {
    test('is looked up with the scope of returns, by merchants alone', async () => {
      const order = await returns.shipped()
      const made = await returns.returned(order, 1)
      const key = randomUUID()
      const answer = ok(await returns.receive(made.id, receipt(made, 1), key))
      const path = `idempotency/return_receive/${key}`
      const clerk = await store.app.merchant('acme', 'manage:own_returns')
      const found = ok(await clerk.get(`/v1/merchant/${path}`))
      assert.deepEqual([found.state, found.answer], ['answered', answer])
      const others = await store.app.merchant('acme', 'manage:own_orders')
      assert.deepEqual(refusal(await others.get(`/v1/merchant/${path}`)), [403, 'forbidden'])
      assert.deepEqual(refusal(await clerk.get(`/v1/merchant/idempotency/refund/${key}`)), [
        403,
        'forbidden',
      ])
      assert.deepEqual(refusal(await clerk.get(`/v1/merchant/idempotency/nonsense/${key}`)), [
        403,
        'forbidden',
      ])
      assert.deepEqual(refusal(await store.app.storefront.get(`/v1/tenants/acme/${path}`)), [
        404,
        'idempotency_key_not_found',
      ])
    })
  })
})
