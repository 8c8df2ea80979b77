import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyed } from '../modules/orders/setup.ts'
import { ok, refusal } from '../modules/returns/setup.ts'
import { beginStory } from './story.ts'

test('five lines in three parcels from two locations, one lost, are returned half to the card and half to credit, which is spent again', async (t) => {
  const story = await beginStory(t)
  await story.sells({
    tea: { price: 1_000, at: { default: 5 } },
    tin: { price: 333, at: { default: 3 } },
    cup: { price: 2_500, at: { default: 2 } },
    pot: { price: 4_000, at: { east: 1 } },
    book: { price: 1_999, at: { east: 4 } },
  })

  // The last pot and all tins are sold: what is left belongs to this order.
  const order = await story.buys({ tea: 2, tin: 3, cup: 1, pot: 1, book: 1 })
  assert.deepEqual(await story.stockOf('pot'), { east: [1, 1] })
  const queue = await story.merchant.get('/v1/merchant/fulfillments/queue?location_id=east')
  assert.equal(ok(queue).orders[0].order_id, order.id)

  // Three parcels, each with a number of its own. One of them comes from the other location.
  const first = await story.packs(order, { tea: 2, tin: 3 })
  const second = await story.packs(order, { cup: 1 })
  const third = await story.packs(order, { pot: 1, book: 1 })
  assert.deepEqual(
    [first, second, third].map(({ location_id }) => location_id),
    ['default', 'default', 'east'],
  )
  await story.ships(first, { carrier: 'UPS', tracking_number: '1Z1' })
  assert.equal(await story.status(order), 'partially_shipped')
  await story.ships(second, { carrier: 'DPD', tracking_number: '22' })
  await story.ships(third, { carrier: 'UPS', tracking_number: '1Z3' })
  assert.equal(await story.status(order), 'shipped')
  await story.delivers(first, second)
  assert.equal(await story.status(order), 'shipped')

  // The third is lost: its units are open again, and gone from the shelf.
  await story.recalls(third, 'lost')
  assert.equal(await story.status(order), 'partially_shipped')
  assert.deepEqual(await story.stockOf('pot'), { east: [0, 1] })
  const { open } = await story.reads(order)
  assert.deepEqual(
    open.map((each: { items: { product_name: string; ready: number }[] }) =>
      each.items.map(({ product_name, ready }) => [product_name, ready]),
    ),
    [
      [
        ['pot', 0],
        ['book', 1],
      ],
    ],
    'the pot waits for another one, the book does not',
  )
  const early = await story.merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`, {
    items: story.linesOf(order, { pot: 1 }),
  })
  assert.deepEqual(refusal(early), [422, 'quantity_exceeds_open'])
  await story.stocks('pot', 'east', 1)
  const again = await story.packs(order, { pot: 1, book: 1 })
  await story.ships(again, { carrier: 'UPS', tracking_number: '1Z4' })
  await story.delivers(again)
  assert.equal(await story.status(order), 'delivered')
  assert.deepEqual(await story.stockOf('pot'), {})

  // A tea arrived broken, and the pot may be: they come back in two receipts.
  const sentBack = await story.returnsUnits(order, { tea: 1, pot: 1 })
  const damaged = await story.receives(order, sentBack, { tea: [1, 'damaged'] })
  const net = order.total - damaged.refund.amount_cents
  assert.equal(await story.store.net(order.id), net, 'this half goes to the card')
  assert.equal(damaged.return.status, 'partially_received')
  const aside = await story.receives(
    order,
    sentBack,
    { pot: [1, 'quarantine'] },
    { method: 'store_credit', location_id: 'east' },
  )
  const credit = aside.refund.amount_cents as number
  assert.equal(await story.store.net(order.id), net, 'this half does not')
  assert.equal(await story.creditOf('ann'), credit)
  assert.equal(await story.status(order), 'partially_refunded')
  assert.deepEqual(
    [await story.stockOf('tea'), await story.stockOf('pot')],
    [{ default: [3, 0] }, {}],
    'neither is on the shelf',
  )

  // Refunded units are not refunded again: not by hand, and not by a second return.
  const byHand = await story.does(order, 'refunds', { items: story.linesOf(order, { pot: 1 }) })
  assert.ok(byHand.status === 409 || byHand.status === 422, byHand.text)
  const twice = await story.returns.create(order.id, story.linesOf(order, { pot: 1 }))
  assert.deepEqual(refusal(twice), [422, 'quantity_exceeds_returnable'])

  // A week later the pot turns out to be whole.
  const [pot] = story.receiptOf(order, sentBack, { pot: [1, 'restock'] })
  const resolved = ok(
    await story.returns.act(sentBack.id, 'resolve', {
      lines: [{ return_line_id: pot?.return_line_id, quantity: 1, disposition: 'restock' }],
    }),
  )
  assert.equal(resolved.return.status, 'closed')
  assert.deepEqual(await story.stockOf('pot'), { east: [1, 0] })

  // The credit buys it again; the card pays the rest.
  const next = await story.buys({ pot: 1, cup: 1 }, { apply_store_credit: true })
  assert.equal(await story.creditOf('ann'), 0)
  assert.equal(await story.store.net(next.id), next.total - credit)
  for (const parcel of [await story.packs(next, { pot: 1 }), await story.packs(next, { cup: 1 })]) {
    await story.delivers(await story.ships(parcel))
  }
  assert.equal(await story.status(next), 'delivered')

  assert.deepEqual(await story.mailsAbout(order), {
    order_delivered: 3,
    order_placed: 1,
    order_shipped: 4,
    return_approved: 1,
    return_received: 2,
  })
  const late = await story.merchant.post(
    `/v1/merchant/returns/${sentBack.id}/receive`,
    {
      lines: story.receiptOf(order, sentBack, { pot: [1, 'restock'] }),
      refund: { method: 'none' },
    },
    keyed(),
  )
  assert.deepEqual(refusal(late), [409, 'invalid_transition'])
  await story.assertBooks()
})
