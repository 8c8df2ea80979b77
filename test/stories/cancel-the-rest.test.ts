import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveBalances, keyed } from '../modules/orders/setup.ts'
import { ok, refusal } from '../modules/returns/setup.ts'
import { beginStory } from './story.ts'

test('the rest of a partly shipped order is cancelled, and every cent goes back to its tender', async (t) => {
  const story = await beginStory(t)
  const { merchant } = story
  await story.sells({
    chair: { price: 7_777, at: { default: 4 } },
    table: { price: 19_999, at: { default: 1, east: 1 } },
    rug: { price: 3_333, at: { east: 3 } },
  })
  const coupon = { code: 'TENTH', type: 'percent', percent_bps: 1_000 }
  ok(await merchant.post('/v1/merchant/marketing/coupons', coupon), 201)
  const { code, gift_card } = await giveBalances(story.store, 5_000, 6_000)

  // Credit, a gift card and a card pay for it, with a coupon.
  const order = await story.buys(
    { chair: 4, table: 2, rug: 3 },
    { apply_store_credit: true, gift_card_code: code, coupon_code: 'TENTH' },
  )
  assert.equal(await story.creditOf('ann'), 0)
  const paidByCard = await story.store.net(order.id)
  assert.equal(paidByCard, order.total - 11_000)

  // Two chairs and the table of this house leave. A rug is refunded, since the shopper has one now.
  const first = await story.ships(await story.packs(order, { chair: 2, table: 1 }))
  const rug = ok(
    await story.does(order, 'refunds', { items: story.linesOf(order, { rug: 1 }) }),
    201,
  ).refund.amount_cents as number
  assert.equal(await story.store.net(order.id), paidByCard - rug)

  // The other table is packed, with a label. Then the other house burns down.
  const packed = await story.packs(order, { table: 1 })
  assert.equal(packed.location_id, 'east')
  const label = { carrier: 'simulated', service: 'standard' }
  ok(await merchant.post(`/v1/merchant/fulfillments/${packed.id}/label`, label, keyed()), 201)
  ok(await story.does(order, 'hold', { reason: 'a fire' }))
  const held = await story.does(order, 'cancel-remaining', { reason: 'inventory' })
  assert.deepEqual(refusal(held), [409, 'order_on_hold'], 'a held order is released first')
  ok(await story.does(order, 'release'))
  const body = ok(
    await story.does(order, 'cancel-remaining', { reason: 'inventory', restock: false }),
  )
  const cancelled = body.refund.amount_cents as number
  assert.deepEqual(
    Object.fromEntries(
      body.cancelled.map((each: { order_item_id: string; quantity: number }) => [
        Object.entries(order.lines).find(([, id]) => id === each.order_item_id)?.[0],
        each.quantity,
      ]),
    ),
    { chair: 2, table: 1, rug: 3 },
    'also the rug that was refunded before, without its money',
  )
  const after = await story.reads(order)
  assert.deepEqual(
    [after.order.fulfillment_status, after.order.total_cents, after.open],
    ['shipped', order.total - cancelled, []],
  )
  assert.deepEqual(
    after.fulfillments.map(({ status }: { status: string }) => status),
    ['shipped', 'cancelled'],
  )
  assert.deepEqual(await story.stockOf('rug'), {}, 'written off')
  assert.deepEqual(await story.stockOf('chair'), {})
  assert.equal(await story.store.net(order.id), paidByCard - rug - cancelled)

  // Units that are gone can no longer be shipped, edited or cancelled.
  const late = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
  assert.deepEqual(refusal(late), [409, 'invalid_transition'])
  const twice = await story.does(order, 'cancel-remaining', { reason: 'inventory' })
  assert.deepEqual(refusal(twice), [409, 'invalid_transition'])

  // The units that did arrive do not please: they come back, and the card, then gift card and credit get the rest.
  await story.delivers(first)
  const sentBack = await story.returnsUnits(order, { chair: 2, table: 1 })
  const received = await story.receives(order, sentBack, {
    chair: [2, 'restock'],
    table: [1, 'damaged'],
  })
  const shipping = order.total - rug - cancelled - received.refund.amount_cents
  assert.ok(shipping > 0, 'only what was paid for shipping is left')
  ok(await story.does(order, 'refunds', {}), 201)
  assert.equal(await story.status(order), 'refunded')
  assert.equal(await story.store.net(order.id), 0)
  assert.equal(await story.creditOf('ann'), 5_000)
  const card = ok(await merchant.get(`/v1/merchant/gift-cards/${gift_card.id}`)).gift_card
  assert.equal(card.balance_cents, 6_000)
  assert.deepEqual(await story.stockOf('chair'), { default: [2, 0] })
  await story.assertBooks()
})
