import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Caller } from '../../harness/app.ts'
import { assertRefused, times } from '../../harness/refusals.ts'
import { assertStockAddsUp, assertStockIsCounted } from '../../harness/stock-oracles.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import {
  codeOf,
  draft,
  type Line,
  ORDERS,
  ok,
  ordered,
  receive,
  receiveAll,
  stockOf,
  tracked,
} from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller

const buyAndShip = async (variant_id: string, quantity: number) => {
  const { order } = await store.place({ items: [{ variant_id, quantity }] })
  const packed = ok(await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`), 201)
  const parcel = packed.fulfillment.id as string
  ok(await merchant.post(`/v1/merchant/fulfillments/${parcel}/ship`))
  return { order: order.id as string, parcel }
}
const costOf = async (variant: string) => {
  const { cost } = await stockOf(merchant, variant)
  return cost === null ? null : [cost.units, cost.value_cents, cost.unit_cost_cents]
}
const entriesOf = async (variant: string) =>
  ok(await merchant.get(`/v1/merchant/inventory/${variant}/costs?limit=100`)).entries
const addCost = (id: string, body: object, headers?: Record<string, string>) =>
  merchant.post(`${ORDERS}/${id}/costs`, body, headers)
const bought = async (lines: Line[]) => {
  const purchase = await ordered(merchant, lines)
  await receiveAll(merchant, purchase)
  return purchase
}

describe('what stock costs', () => {
  before(() => {
    store = shared.current
    merchant = store.shop.merchant
  })

  test('is the moving average of the prices paid, and leaves with the goods', async () => {
    const variant = await tracked(merchant)
    assert.equal(await costOf(variant), null)
    await bought([{ variant_id: variant, quantity: 10, unit_cost_cents: 100 }])
    assert.deepEqual(await costOf(variant), [10, 1_000, 100])
    await bought([{ variant_id: variant, quantity: 5, unit_cost_cents: 161 }])
    assert.deepEqual(await costOf(variant), [15, 1_805, 120])
    const { order, parcel } = await buyAndShip(variant, 4)
    // 1,805 x 4 / 15 is 481.33: the rounded part stays in the stock.
    assert.deepEqual(await costOf(variant), [11, 1_324, 120])
    const [sale] = await entriesOf(variant)
    assert.deepEqual(
      [sale.kind, sale.units, sale.sold_cents, sale.order_id],
      ['shipped', -4, 481, order],
    )
    ok(
      await merchant.post(`/v1/merchant/fulfillments/${parcel}/cancel`, {
        reason: 'returned_to_sender',
      }),
    )
    const [back] = await entriesOf(variant)
    assert.deepEqual([back.kind, back.units, back.sold_cents], ['received', 4, -481])
    assert.deepEqual(await costOf(variant), [15, 1_805, 120])
  })

  test('stock that was there before the first cost is valued at that cost', async () => {
    const variant = await tracked(merchant)
    const url = `/v1/merchant/inventory/${variant}/adjust`
    ok(await merchant.post(url, { delta: 6, reason: 'found' }))
    await bought([{ variant_id: variant, quantity: 4, unit_cost_cents: 250 }])
    assert.deepEqual(await costOf(variant), [10, 2_500, 250])
    ok(await merchant.post(url, { delta: -10, reason: 'burnt' }))
    assert.deepEqual(await costOf(variant), [0, 0, 250])
    ok(await merchant.post(url, { delta: 2, reason: 'found' }))
    assert.deepEqual(await costOf(variant), [2, 500, 250], 'the last average is remembered')
    const kinds = (await entriesOf(variant)).map(({ kind }: { kind: string }) => kind)
    assert.deepEqual(kinds, ['adjusted', 'adjusted', 'received', 'opening'])
  })

  test('units that were shipped before they were received get their cost with the receipt', async () => {
    const variant = await tracked(merchant)
    await bought([{ variant_id: variant, quantity: 3, unit_cost_cents: 100 }])
    const { order } = await store.place({ items: [{ variant_id: variant, quantity: 3 }] })
    const packed = ok(await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`), 201)
    const url = `/v1/merchant/inventory/${variant}/adjust`
    ok(await merchant.post(url, { set_on_hand: 1, reason: 'miscounted' }))
    ok(await merchant.post(`/v1/merchant/fulfillments/${packed.fulfillment.id}/ship`))
    assert.deepEqual(await costOf(variant), [-2, 0, 100])
    await bought([{ variant_id: variant, quantity: 6, unit_cost_cents: 120 }])
    const [receipt] = await entriesOf(variant)
    assert.deepEqual(
      [receipt.cost_cents, receipt.value_cents, receipt.sold_cents],
      [720, 480, 240],
      'two of the six were sold already',
    )
    assert.deepEqual(await costOf(variant), [4, 480, 120])
  })

  test('stays where it is when goods move between locations', async () => {
    const variant = await tracked(merchant)
    const location = `l-${randomUUID()}`
    ok(await merchant.post('/v1/merchant/inventory/locations', { id: location, name: 'L' }), 201)
    await bought([{ variant_id: variant, quantity: 3, unit_cost_cents: 101 }])
    const body = { variant_id: variant, from_location_id: 'default', to_location_id: location }
    const url = '/v1/merchant/inventory/transfers'
    ok(await merchant.post(url, { ...body, quantity: 2, reason: 'nearer' }), 201)
    assert.deepEqual(await costOf(variant), [3, 303, 101])
    assert.equal((await entriesOf(variant)).length, 1)
  })

  describe('with a landed cost', () => {
    test('is split over the lines, and over units on hand and units sold', async () => {
      const [a, b] = [await tracked(merchant), await tracked(merchant)]
      const purchase = await bought([
        { variant_id: a, quantity: 10, unit_cost_cents: 100, unit_weight_grams: 500 },
        { variant_id: b, quantity: 5, unit_cost_cents: 400, unit_weight_grams: 2_000 },
      ])
      await buyAndShip(a, 4)
      const freight = { description: 'sea freight', amount_cents: 1_000, split_by: 'value' }
      const { cost, purchase_order } = ok(await addCost(purchase.id, freight), 201)
      assert.deepEqual(
        cost.allocations.map((share: Record<string, unknown>) => [
          share.variant_id,
          share.amount_cents,
          share.on_hand_units,
          share.on_hand_cents,
          share.sold_units,
          share.sold_cents,
        ]),
        [
          [a, 333, 6, 200, 4, 133],
          [b, 667, 5, 667, 0, 0],
        ],
      )
      assert.deepEqual(purchase_order.costs, [cost])
      assert.deepEqual(await costOf(a), [6, 800, 133])
      assert.deepEqual(await costOf(b), [5, 2_667, 533])
      const [late] = await entriesOf(a)
      assert.deepEqual(
        [late.kind, late.units, late.cost_cents, late.value_cents, late.sold_cents],
        ['landed_cost', 0, 333, 200, 133],
      )
      const shares = async (split_by: string) =>
        ok(await addCost(purchase.id, { ...freight, split_by }), 201).cost.allocations.map(
          ({ amount_cents }: { amount_cents: number }) => amount_cents,
        )
      assert.deepEqual(await shares('quantity'), [667, 333])
      assert.deepEqual(await shares('weight'), [333, 667])
      const { costs } = ok(await merchant.get(`${ORDERS}/${purchase.id}`)).purchase_order
      assert.equal(costs.length, 3, 'a second cost does not count the first twice')
      assert.deepEqual(await costOf(b), [5, 2_667 + 333 + 667, 733])
    })

    test('counts units as sold that left before later units came', async () => {
      const variant = await tracked(merchant)
      const line = { variant_id: variant, quantity: 4, unit_cost_cents: 100 }
      const first = await bought([line])
      const second = await bought([line])
      await buyAndShip(variant, 5)
      const cost = { description: 'customs', amount_cents: 100, split_by: 'quantity' }
      const sharesOf = async (id: string) => {
        const [share] = ok(await addCost(id, cost), 201).cost.allocations
        return [share.on_hand_units, share.on_hand_cents, share.sold_units, share.sold_cents]
      }
      assert.deepEqual(await sharesOf(first.id), [0, 0, 4, 100])
      assert.deepEqual(await sharesOf(second.id), [3, 75, 1, 25])
    })

    test('is refused before goods have come, and if no unit has the measure to split it by', async () => {
      const variant_id = await tracked(merchant)
      const line = { variant_id, quantity: 1, unit_cost_cents: 0 }
      const cost = { description: 'freight', amount_cents: 5, split_by: 'quantity' }
      const made = await draft(merchant, [line])
      assert.equal(codeOf(await addCost(made.id, cost)), 'invalid_transition')
      const purchase = await ordered(merchant, [line])
      assert.equal(codeOf(await addCost(purchase.id, cost)), 'invalid_transition')
      const [{ id: line_id }] = purchase.lines
      ok(await receive(merchant, purchase.id, [{ line_id, quantity: 0, rejected_quantity: 1 }]))
      const nothing = await addCost(purchase.id, cost)
      assert.deepEqual([nothing.status, nothing.body.reason], [409, 'nothing_received'])
      const free = await bought([line])
      await assertRefused(
        [
          ['no value', { ...cost, split_by: 'value' }, 'invalid_body', 'split_by'],
          ['no weight', { ...cost, split_by: 'weight' }, 'invalid_body', 'split_by'],
          ['no split', { ...cost, split_by: 'luck' }, 'invalid_body', 'split_by'],
          ['nothing', { ...cost, amount_cents: 0 }, 'invalid_body', 'amount_cents'],
          ['no words', { ...cost, description: '' }, 'invalid_body', 'description'],
        ],
        (body) => addCost(free.id, body as object),
      )
      assert.equal(codeOf(await addCost(randomUUID(), cost)), 'purchase_order_not_found')
    })

    test('is added once for a key, and each time without a key', async () => {
      const variant_id = await tracked(merchant)
      const purchase = await bought([{ variant_id, quantity: 2, unit_cost_cents: 100 }])
      const cost = { description: 'freight', amount_cents: 50, split_by: 'quantity' }
      const key = { 'idempotency-key': randomUUID() }
      const answers = await times(4, () => addCost(purchase.id, cost, key))
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.deepEqual(await costOf(variant_id), [2, 250, 125])
      ok(await addCost(purchase.id, cost), 201)
      assert.deepEqual(await costOf(variant_id), [2, 300, 150])
    })

    test('loses no cent when it is added beside a shipment of the same goods', async () => {
      const variant_id = await tracked(merchant)
      const purchase = await bought([{ variant_id, quantity: 20, unit_cost_cents: 99 }])
      const cost = { description: 'freight', amount_cents: 77, split_by: 'quantity' }
      await Promise.all([
        ...Array.from({ length: 4 }, () => buyAndShip(variant_id, 2)),
        ...Array.from({ length: 4 }, () => addCost(purchase.id, cost)),
      ])
      const entries = await entriesOf(variant_id)
      const total = (name: string) =>
        entries.reduce((sum: number, entry: Record<string, number>) => sum + (entry[name] ?? 0), 0)
      assert.equal(total('cost_cents'), 20 * 99 + 4 * 77)
      assert.equal(total('value_cents') + total('sold_cents'), total('cost_cents'))
      assert.equal((await stockOf(merchant, variant_id)).cost.units, 12)
    })
  })

  test('never gains or loses a cent, in any sequence of receipts, sales, losses and costs', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('buy'),
        units: fc.integer({ min: 1, max: 30 }),
        cents: fc.nat(997),
      }),
      fc.record({
        do: fc.constant('adjust'),
        units: fc.integer({ min: -9, max: 9 }),
        cents: fc.nat(0),
      }),
      fc.record({
        do: fc.constant('sell'),
        units: fc.integer({ min: 1, max: 7 }),
        cents: fc.nat(0),
      }),
      fc.record({
        do: fc.constant('cost'),
        units: fc.nat(0),
        cents: fc.integer({ min: 1, max: 999 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
        const variant_id = await tracked(merchant)
        let last: { id: string } | null = null
        let paid = 0
        for (const { do: what, units, cents } of steps) {
          if (what === 'buy') {
            last = await bought([{ variant_id, quantity: units, unit_cost_cents: cents }])
            paid += units * cents
          } else if (what === 'adjust') {
            const url = `/v1/merchant/inventory/${variant_id}/adjust`
            await merchant.post(url, { delta: units, reason: 'any' })
          } else if (what === 'sell') {
            const { available } = await stockOf(merchant, variant_id)
            if (available >= units) await buyAndShip(variant_id, units)
          } else if (last !== null) {
            const body = { description: 'late', amount_cents: cents, split_by: 'quantity' }
            ok(await addCost(last.id, body), 201)
            paid += cents
          }
        }
        const { rows } = await store.superuser.query(
          `select coalesce(sum(cost_cents) filter (where kind <> 'opening'), 0)::bigint as paid,
                  coalesce(sum(value_cents + sold_cents - cost_cents)
                           filter (where kind <> 'adjusted'), 0)::bigint as lost
             from inventory_cost_entries where variant_id = $1`,
          [variant_id],
        )
        assert.deepEqual([Number(rows[0].paid), Number(rows[0].lost)], [paid, 0])
        const { cost } = await stockOf(merchant, variant_id)
        if (cost !== null)
          assert.ok(cost.units > 0 ? cost.value_cents >= 0 : cost.value_cents === 0)
        await assertStockIsCounted(store.superuser)
      }),
      { numRuns: 4, unbiased: true },
    )
    await assertStockAddsUp(store.superuser)
  })
})
