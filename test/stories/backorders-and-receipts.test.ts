import assert from 'node:assert/strict'
import { test } from 'node:test'
import { times } from '../harness/refusals.ts'
import { enable } from '../modules/checkout/setup.ts'
import { ORDERS, ordered, receive } from '../modules/purchasing/setup.ts'
import { ok } from '../modules/returns/setup.ts'
import { type Bought, beginStory } from './story.ts'

const SHOPPERS = 50
const WAITING = 5
const BOUGHT = 30
/** Of the thirty lamps two come broken, and are sent back to the vendor. */
const REJECTED = 2
const FIRST_PART = 3

test('a purchase order comes in two parts while fifty shoppers buy, and the oldest orders are served first', async (t) => {
  const story = await beginStory(t)
  const { merchant } = story
  await enable(merchant, 'bulk_fulfillment')
  await story.sells({ lamp: { price: 2_999, backorders: true } })
  const lamp = story.variant('lamp')
  const stock = async () => {
    const { on_hand, allocated, incoming, available } = await story.returns.stockOf(lamp)
    return { on_hand, allocated, incoming, available }
  }
  const readyOf = async (order: Bought): Promise<number> =>
    (await story.reads(order)).open[0].items[0].ready

  // Five orders wait, and nothing of them can be packed.
  const waiting: Bought[] = []
  for (let n = 0; n < WAITING; n++) waiting.push(await story.buys({ lamp: 1 }))
  assert.deepEqual(await Promise.all(waiting.map(readyOf)), [0, 0, 0, 0, 0])
  const purchase = await ordered(merchant, [
    { variant_id: lamp, quantity: BOUGHT, unit_cost_cents: 1_100 },
  ])
  assert.deepEqual(await stock(), { on_hand: 0, allocated: 5, incoming: 30, available: -5 })
  const [{ id: line_id }] = purchase.lines

  // The lorry comes twice while the sale is on.
  const [others] = await Promise.all([
    times(SHOPPERS, () => story.buys({ lamp: 1 })),
    receive(merchant, purchase.id, [{ line_id, quantity: FIRST_PART }]).then(async (part) => {
      assert.equal(ok(part).purchase_order.status, 'partially_received')
      const rest = {
        line_id,
        quantity: BOUGHT - REJECTED,
        rejected_quantity: REJECTED,
        reason: 'broken',
      }
      ok(await receive(merchant, purchase.id, [rest]))
    }),
  ])
  const all = [...waiting, ...others].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const came = BOUGHT - REJECTED
  assert.deepEqual(
    await Promise.all(all.map(readyOf)),
    all.map((_, place) => (place < came ? 1 : 0)),
    'the oldest orders have what came',
  )
  assert.deepEqual(await stock(), { on_hand: 28, allocated: 55, incoming: 0, available: -27 })

  // All are asked for at once: those that are served ship, and the others say why not.
  const body = { orders: all.map(({ id }) => ({ order_id: id, ship: true })) }
  const { results } = ok(await merchant.post('/v1/merchant/fulfillments/bulk', body))
  assert.deepEqual(
    results.map(
      (row: { status: string; error?: { code: string } }) => row.error?.code ?? row.status,
    ),
    all.map((_, place) => (place < came ? 'ok' : 'quantity_exceeds_open')),
  )
  assert.deepEqual(await stock(), { on_hand: 0, allocated: 27, incoming: 0, available: -27 })

  // One of the waiting shoppers gives up, and the next in line is the first to be served.
  const [impatient, next, ...rest] = all.slice(came)
  assert.ok(impatient && next)
  ok(await story.does(impatient, 'cancel', { reason: 'customer' }))
  const second = await ordered(merchant, [
    { variant_id: lamp, quantity: 26, unit_cost_cents: 1_200 },
  ])
  const total = (quantity: number) =>
    receive(merchant, second.id, [{ line_id: second.lines[0].id, quantity }])
  ok(await total(1))
  assert.deepEqual([await readyOf(next), await readyOf(rest[0] as Bought)], [1, 0])
  ok(await total(26))
  const last = { orders: [next, ...rest].map(({ id }) => ({ order_id: id, ship: true })) }
  for (const row of ok(await merchant.post('/v1/merchant/fulfillments/bulk', last)).results) {
    assert.equal(row.status, 'ok', JSON.stringify(row))
  }
  assert.deepEqual(await stock(), { on_hand: 0, allocated: 0, incoming: 0, available: 0 })

  // The freight bill comes when all lamps are sold: it belongs to the sold ones, to the cent.
  const freight = { description: 'freight', amount_cents: 1_001, split_by: 'quantity' }
  const cost = await merchant.post(`${ORDERS}/${purchase.id}/costs`, freight)
  const [allocation] = ok(cost, 201).cost.allocations
  assert.deepEqual(
    [allocation.amount_cents, allocation.on_hand_cents, allocation.sold_cents],
    [1_001, 0, 1_001],
  )
  await story.assertBooks()
})
