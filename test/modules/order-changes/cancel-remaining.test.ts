import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import * as jobs from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { cancelRemainingOperation } from '../../../src/modules/order-changes/cancel-remaining-money.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import type { Answer } from '../../harness/app.ts'
import { expireAllClaims } from '../../harness/operations.ts'
import { countStatuses } from '../../harness/refusals.ts'
import { movableClock } from '../checkout/setup.ts'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, type Returns, receipt, refusal, returnsOf } from '../returns/setup.ts'

const clock = movableClock()
const shared = shareOrderStore({ clock })
let store: OrderStore
let parcels: Returns

const ACTOR = { name: 'merchant_key:test', correlationId: null }
const OVER_AN_HOUR_MS = HOUR_MS + 1_000

const cancelRest = (id: string, more: object = {}, key?: string) =>
  store.merchant(id, 'cancel-remaining', { reason: 'inventory', ...more }, key)

/** An order of five tracked units at 1,000, of which some have shipped. */
async function partlyShipped(shipped: number, more: object = {}) {
  const variant = await parcels.tracked(5)
  const items = [{ variant_id: variant, quantity: 5 }]
  const placed = await store.place({ items, ...more })
  const line = placed.items[0].id as string
  const id = placed.order.id as string
  if (shipped > 0) await parcels.ship(id, { items: [{ order_item_id: line, quantity: shipped }] })
  return { id, line, variant }
}

describe('cancelling the rest of an order', () => {
  before(() => {
    store = shared.current
    parcels = returnsOf(store)
  })

  test('refunds what was paid for it, releases its stock, and leaves the order shipped', async () => {
    const { id, line, variant } = await partlyShipped(2)
    const body = ok(await cancelRest(id, { note: 'sold out' }))
    assert.deepEqual(body.cancelled, [{ order_item_id: line, quantity: 3 }])
    assert.deepEqual(
      [body.delta_cents, body.refund.kind, body.refund.amount_cents],
      [-3_000, 'adjustment', 3_000],
    )
    const { order, items, timeline, notes, open } = await store.read(id)
    assert.deepEqual(
      [order.status, order.payment_status, order.total_cents, order.captured_cents],
      ['shipped', 'paid', 2_000, 2_000],
    )
    assert.deepEqual([items[0].quantity, items[0].line_total_cents, open], [2, 2_000, []])
    assert.equal(timeline.at(-1).type, 'remaining_cancelled')
    assert.ok(notes === undefined || JSON.stringify(notes).includes('sold out'))
    const { on_hand, allocated } = await parcels.stockOf(variant)
    assert.deepEqual([on_hand, allocated], [3, 0])
    assert.equal(await store.net(id), 2_000)
    await store.check()
  })

  test('cancelling the rest of units that a coupon paid for reverses their sale in the books, without a refund', async () => {
    const terms = { code: 'ALLFREE', type: 'percent', percent_bps: 10_000 }
    ok(await store.shop.merchant.post('/v1/merchant/marketing/coupons', terms), 201)
    const { id } = await partlyShipped(2, { coupon_code: 'ALLFREE' })
    const body = ok(await cancelRest(id))
    assert.deepEqual([body.refund, body.delta_cents, body.order.discount_cents], [null, 0, 2_000])
    const { rows } = await store.superuser.query(
      `select e.account, sum(e.amount_cents)::int as cents
         from ledger_journals j
         join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
        where j.order_id = $1
        group by 1 order by 1`,
      [id],
    )
    assert.deepEqual(rows, [
      { account: 'discount', cents: 2_000 },
      { account: 'sales', cents: -2_000 },
    ])
    await store.check()
  })

  test('unpacks the parcels that are not shipped', async () => {
    const { id, line, variant } = await partlyShipped(1)
    const items = [{ order_item_id: line, quantity: 2 }]
    ok(await store.shop.merchant.post(`/v1/merchant/orders/${id}/fulfillments`, { items }), 201)
    ok(await cancelRest(id))
    const { order, fulfillments } = await store.read(id)
    assert.equal(order.status, 'shipped')
    assert.deepEqual(
      fulfillments.map(({ status }: { status: string }) => status),
      ['shipped', 'cancelled'],
    )
    assert.equal((await parcels.stockOf(variant)).allocated, 0)
    await store.check()
  })

  test('refunds no unit twice, and lets the shipped units be returned for money', async () => {
    const { id, line } = await partlyShipped(2)
    const items = [{ order_item_id: line, quantity: 2 }]
    ok(await store.merchant(id, 'refunds', { items }), 201)
    const body = ok(await cancelRest(id))
    assert.deepEqual([body.delta_cents, body.cancelled[0].quantity], [-1_000, 3])
    assert.equal(await store.net(id), 2_000)
    const { order } = await store.read(id)
    assert.deepEqual([order.status, order.fulfillment_status], ['partially_refunded', 'shipped'])
    const made = ok(await parcels.create(id, [{ order_item_id: line, quantity: 2 }]), 201).return
    ok(await parcels.receive(made.id, receipt(made, 2)))
    assert.equal(await store.net(id), 0)
    await store.check()
  })

  test('makes a receipt of a return wait, so that no refunded unit is counted by both', async () => {
    const { id, line } = await partlyShipped(2)
    const units = [{ order_item_id: line, quantity: 2 }]
    ok(await store.merchant(id, 'refunds', { items: units }), 201)
    const made = ok(await parcels.create(id, units), 201).return
    const key = randomUUID()
    const receive = () => parcels.receive(made.id, receipt(made, 2), key)
    const meanwhile: Answer[] = []
    const at = async (point: string) => {
      if (point === 'cancel_remaining-begun') meanwhile.push(await receive())
    }
    await begin({ at }, id)
    assert.deepEqual(meanwhile.map(refusal), [[409, 'order_busy']])
    assert.equal(ok(await receive()).refund.amount_cents, 2_000)
    assert.equal(await store.net(id), 0, 'all five units are refunded, each of them once')
    await store.check()
  })

  test('moves no money if the rest was refunded before', async () => {
    const { id, line } = await partlyShipped(4)
    ok(await store.merchant(id, 'refunds', { items: [{ order_item_id: line, quantity: 1 }] }), 201)
    const body = ok(await cancelRest(id))
    assert.deepEqual([body.delta_cents, body.refund], [0, null])
    assert.deepEqual([await store.net(id), (await store.read(id)).open], [4_000, []])
    await store.check()
  })

  test('is refused if amounts were refunded that leave too little', async () => {
    const { id } = await partlyShipped(1)
    ok(await store.merchant(id, 'refunds', { amount_cents: 2_000 }), 201)
    const answer = await cancelRest(id)
    assert.deepEqual(refusal(answer), [422, 'amount_exceeds_refundable'])
    assert.equal(answer.body.refundable_cents, 3_000)
    assert.equal((await store.read(id)).items[0].quantity, 5)
  })

  test('keeps the discount of the shipped units, whatever minimum the coupon has', async () => {
    const code = `REST${randomUUID().slice(0, 6)}`
    const coupon = { code, type: 'percent', percent_bps: 1_000, min_subtotal_cents: 4_000 }
    ok(await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon), 201)
    const { id } = await partlyShipped(1, { coupon_code: code })
    const body = ok(await cancelRest(id))
    const { order } = await store.read(id)
    assert.deepEqual(
      [body.delta_cents, order.subtotal_cents, order.discount_cents, order.total_cents],
      [-3_600, 1_000, 100, 900],
    )
    await store.check()
  })

  test('refunds to the tenders that paid, the card first', async () => {
    const { code } = await giveBalances(store, 1_500, 1_000)
    const { id } = await partlyShipped(1, { apply_store_credit: true, gift_card_code: code })
    const { refund } = ok(await cancelRest(id))
    assert.deepEqual(
      refund.tenders.map((each: { tender: string; amount_cents: number }) => [
        each.tender,
        each.amount_cents,
      ]),
      [
        ['card', 2_500],
        ['gift_card', 1_000],
        ['store_credit', 500],
      ],
    )
    const { order } = await store.read(id)
    assert.deepEqual([order.total_cents, order.captured_cents], [1_000, 1_000])
    await store.check()
  })

  test('writes goods off that cannot be sold again', async () => {
    const { id, variant } = await partlyShipped(2)
    ok(await cancelRest(id, { restock: false }))
    const { on_hand, allocated } = await parcels.stockOf(variant)
    assert.deepEqual([on_hand, allocated], [0, 0])
    await store.check()
  })

  test('is refused before anything has shipped, after everything has, and while the order is held', async () => {
    const none = await partlyShipped(0)
    const all = await partlyShipped(5)
    for (const { id } of [none, all]) {
      assert.deepEqual(refusal(await cancelRest(id)), [409, 'invalid_transition'])
    }
    const held = await partlyShipped(1)
    ok(await store.merchant(held.id, 'hold', {}))
    const key = randomUUID()
    assert.deepEqual(refusal(await cancelRest(held.id, {}, key)), [409, 'order_on_hold'])
    ok(await store.merchant(held.id, 'release'))
    ok(await cancelRest(held.id, {}, key))
    assert.deepEqual(refusal(await cancelRest(randomUUID())), [404, 'order_not_found'])
    const wrong = await store.merchant(none.id, 'cancel-remaining', { reason: 'boredom' })
    assert.deepEqual(refusal(wrong), [400, 'invalid_body'])
  })

  test('is replayed for its key, and done once however many requests come at the same time', async () => {
    const { id } = await partlyShipped(2)
    const key = randomUUID()
    const same = await Promise.all(Array.from({ length: 4 }, () => cancelRest(id, {}, key)))
    assert.equal(new Set(same.map(({ text }) => text)).size, 1)
    const others = await Promise.all(Array.from({ length: 3 }, () => cancelRest(id)))
    assert.deepEqual(countStatuses(others), { 409: 3 })
    assert.equal(await store.net(id), 2_000)
    const crowded = await partlyShipped(2)
    const crowd = await Promise.all(Array.from({ length: 50 }, () => cancelRest(crowded.id)))
    assert.deepEqual(countStatuses(crowd), { 200: 1, 409: 49 })
    assert.equal(await store.net(crowded.id), 2_000)
    const found = `/v1/merchant/idempotency/cancel_remaining/${key}`
    assert.equal(ok(await store.shop.merchant.get(found)).state, 'answered')
  })

  test('a cancellation of the rest and a shipment at the same time ship or cancel each unit, never both', async () => {
    for (let round = 0; round < 5; round++) {
      const { id, line } = await partlyShipped(1)
      const pack = { items: [{ order_item_id: line, quantity: 2 }] }
      const path = `/v1/merchant/orders/${id}/fulfillments`
      const { fulfillment } = ok(await store.shop.merchant.post(path, pack), 201)
      const ship = `/v1/merchant/fulfillments/${fulfillment.id}/ship`
      const [cancelled, shipped] = await Promise.all([
        cancelRest(id),
        store.shop.merchant.post(ship),
      ])
      assert.equal(cancelled.status, 200, cancelled.text)
      const units = shipped.status === 200 ? 3 : 1
      const { order, items } = await store.read(id)
      assert.deepEqual([items[0].quantity, items[0].shipped_quantity], [units, units])
      assert.deepEqual([order.status, await store.net(id)], ['shipped', units * 1_000])
    }
    await store.check()
  })

  const db = () => store.app.runtime.database.tenant('acme')

  interface Override {
    gateway?: (real: Gateway) => Partial<Gateway>
    at?: (point: string) => void | Promise<void>
  }

  const depsOf = ({ gateway, at }: Override = {}): jobs.JobDeps => {
    const deps = openCheckout(store.app.runtime)
    const forStore: typeof deps.payments.forStore = async (...of) => {
      const real = await deps.payments.forStore(...of)
      return { ...real, ...gateway?.(real) }
    }
    const payments = { ...deps.payments, forStore }
    return { ...deps, database: store.app.runtime.workerDatabase, payments, ...(at && { at }) }
  }

  const begin = (override: Override, orderId: string) => {
    const request = { operation: 'cancel_remaining', key: randomUUID() }
    return run(db(), { ...request, fingerprint: Buffer.alloc(32) }, (claim) =>
      cancelRemainingOperation.run(
        depsOf(override),
        db(),
        { actor: ACTOR, claim },
        { orderId, reason: 'inventory', note: null, restock: true },
      ),
    )
  }

  const no = async () => refused('processing_error')

  test('leaves the order as it was if the gateway refuses', async () => {
    const { id, variant } = await partlyShipped(2)
    const gateway = () => ({ refund: no, void: no })
    assert.match(JSON.stringify(await begin({ gateway }, id)), /refund_failed/)
    const { order, items } = await store.read(id)
    assert.deepEqual(
      [order.status, order.total_cents, items[0].quantity],
      ['partially_shipped', 5_000, 5],
    )
    assert.equal((await parcels.stockOf(variant)).allocated, 3)
    ok(await cancelRest(id))
    await store.check()
  })

  for (const point of ['cancel_remaining-begun', 'refund-sent', 'cancel_remaining-answered']) {
    test(`is finished by the worker, once, after a kill at ${point}`, async () => {
      const { id } = await partlyShipped(2)
      const at = (reached: string) => {
        if (reached === point) throw new Error('killed')
      }
      await assert.rejects(begin({ at }, id), /killed/)
      assert.deepEqual(refusal(await cancelRest(id)), [409, 'order_busy'])
      clock.advance(point === 'refund-sent' ? OVER_AN_HOUR_MS : 0)
      await expireAllClaims(store.superuser)
      await jobs.reconcile(depsOf())
      clock.reset()
      // A refund that may have been sent is looked up, and counts as failed where it never arrived.
      if (point === 'refund-sent') ok(await cancelRest(id))
      const { order } = await store.read(id)
      assert.deepEqual([order.status, order.total_cents], ['shipped', 2_000])
      assert.equal(await store.net(id), 2_000)
      await store.check()
    })
  }
})
