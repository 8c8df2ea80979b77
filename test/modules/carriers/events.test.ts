import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { deliver, KEYS, register, signStandard } from '../provider-events/setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let path: string

const PROVIDER = 'simulated_carrier'
const SHIP_TO = {
  label: 'Ann',
  line1: 'Hauptstraße 1',
  city: 'Berlin',
  state: '',
  postal_code: '10115',
  country: 'DE',
}

const urlOf = (id: string) => `/v1/merchant/fulfillments/${id}`
const post = async (url: string, body: object = {}) => {
  const answer = await store.shop.merchant.post(url, body, keyed())
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

/** A parcel with a label, packed or further on. */
async function parcelWithLabel({ ship = true } = {}) {
  const { order } = await store.place({ shipping_address: SHIP_TO })
  const { fulfillment } = await post(`/v1/merchant/orders/${order.id}/fulfillments`)
  const bought = await post(`${urlOf(fulfillment.id)}/label`, {
    carrier: 'simulated',
    service: 'standard',
  })
  if (ship) await post(`${urlOf(fulfillment.id)}/ship`)
  return {
    id: fulfillment.id as string,
    order_id: order.id as string,
    ref: bought.label.id as string,
  }
}

interface SentEvent {
  type: string
  ref?: unknown
  at?: unknown
  id?: string
  to?: string
}

/** Sends a signed event, and lets the worker handle it. Answers its receipt and outcome. */
async function send({ type, ref, at, id = randomUUID(), to = path }: SentEvent) {
  const { app } = store
  const { clock, workerDatabase } = app.runtime
  const data = { reference: ref, at: at ?? new Date(clock.now()).toISOString() }
  const raw = Buffer.from(JSON.stringify({ type, data }))
  const seconds = Math.floor(clock.now() / 1_000)
  const receipt = await deliver(app, to, raw, signStandard(KEYS.standard, raw, { id, seconds }))
  assert.equal(receipt.status, 200, receipt.text)
  while ((await deliverDue(workerDatabase, await openHandlers(app.runtime), { slots: 20 })) > 0);
  const read = await app.operator.get(`${to}/events/${id}`)
  const { status, reason } = read.body.event
  return { deduped: receipt.body.deduped, outcome: [status, reason] }
}

const FOLLOWED = ['applied', 'parcel_followed']
const NOTHING_NEW = ['ignored', 'nothing_new']

const stateOf = async (id: string) => {
  const { fulfillment } = (await store.shop.merchant.get(urlOf(id))).body
  return fulfillment
}
const typesOf = async (order_id: string): Promise<string[]> =>
  (await store.read(order_id)).timeline.map(({ type }: { type: string }) => type)
const alertsOf = async (order_id: string): Promise<string[]> =>
  (await store.read(order_id)).timeline
    .filter(({ type }: { type: string }) => type === 'carrier_alert')
    .map(({ data }: { data: { alert: string } }) => data.alert)

describe("a carrier's event", () => {
  before(async () => {
    store = shared.current
    path = await register(store.app, 'acme', { provider: PROVIDER, account: 'acme' }, 'standard')
  })

  test('follows a parcel: in transit, then delivered, and the order with it', async () => {
    const { id, order_id, ref } = await parcelWithLabel()
    assert.deepEqual((await send({ type: 'parcel.in_transit', ref })).outcome, FOLLOWED)
    const { label } = (await store.shop.merchant.get(`${urlOf(id)}/label`)).body
    assert.equal(label.progress, 'in_transit')
    assert.equal((await stateOf(id)).status, 'shipped')
    assert.deepEqual((await send({ type: 'parcel.delivered', ref })).outcome, FOLLOWED)
    const parcel = await stateOf(id)
    assert.equal(parcel.status, 'delivered')
    assert.ok(Date.parse(parcel.delivered_at) >= Date.parse(parcel.shipped_at))
    const { order, timeline } = await store.read(order_id)
    assert.equal(order.status, 'delivered')
    assert.deepEqual(
      timeline.slice(-2).map((each: Record<string, unknown>) => [each.type, each.actor]),
      [
        ['carrier_in_transit', 'carrier:simulated'],
        ['delivered', 'carrier:simulated'],
      ],
    )
    const { rows } = await store.superuser.query(
      `select count(*)::int as events from webhook_events
        where order_id = $1 and type = 'commerce.order.delivered.v1'`,
      [order_id],
    )
    assert.deepEqual(rows, [{ events: 1 }])
  })

  test("a carrier's event that comes again, late or out of order changes nothing", async () => {
    const { id, order_id, ref } = await parcelWithLabel()
    const event = { type: 'parcel.delivered', ref, id: randomUUID() }
    assert.equal((await send(event)).deduped, false)
    const before = [await stateOf(id), await typesOf(order_id)]
    assert.equal((await send(event)).deduped, true)
    for (const type of ['parcel.delivered', 'parcel.in_transit', 'parcel.returned']) {
      assert.deepEqual((await send({ type, ref })).outcome, NOTHING_NEW)
    }
    assert.deepEqual([await stateOf(id), await typesOf(order_id)], before)
  })

  test("a carrier's event of a parcel that the merchant has delivered changes nothing", async () => {
    const { id, order_id, ref } = await parcelWithLabel()
    await post(`${urlOf(id)}/deliver`)
    const before = [await stateOf(id), await typesOf(order_id)]
    assert.deepEqual((await send({ type: 'parcel.in_transit', ref })).outcome, NOTHING_NEW)
    await send({ type: 'parcel.delivered', ref })
    assert.deepEqual([await stateOf(id), await typesOf(order_id)], before)
  })

  test('delivers a parcel once, also if a merchant marks it as delivered at the same moment', async () => {
    const { id, order_id, ref } = await parcelWithLabel()
    await Promise.all([
      send({ type: 'parcel.delivered', ref }),
      store.shop.merchant.post(`${urlOf(id)}/deliver`),
      send({ type: 'parcel.delivered', ref }),
    ])
    const types = await typesOf(order_id)
    assert.equal(types.filter((type) => type === 'delivered').length, 1)
    assert.equal((await stateOf(id)).status, 'delivered')
  })

  test("a carrier's event of a parcel that was recalled is an alert in the timeline, and the parcel stays", async () => {
    const { id, order_id, ref } = await parcelWithLabel()
    await post(`${urlOf(id)}/cancel`, { reason: 'lost' })
    await send({ type: 'parcel.delivered', ref })
    assert.equal((await stateOf(id)).status, 'cancelled')
    assert.deepEqual(await alertsOf(order_id), ['delivered_after_recall'])
    await send({ type: 'parcel.delivered', ref })
    assert.deepEqual(await alertsOf(order_id), ['delivered_after_recall'], 'once')
  })

  test("a carrier's event of a parcel that was not shipped, or comes back, is an alert and moves no stock", async () => {
    const packed = await parcelWithLabel({ ship: false })
    await send({ type: 'parcel.delivered', ref: packed.ref })
    assert.equal((await stateOf(packed.id)).status, 'pending')
    assert.deepEqual(await alertsOf(packed.order_id), ['delivered_before_shipping'])
    const returned = await parcelWithLabel()
    await send({ type: 'parcel.returned', ref: returned.ref })
    assert.equal((await stateOf(returned.id)).status, 'shipped')
    assert.deepEqual(await alertsOf(returned.order_id), ['returned_to_sender'])
    await post(`${urlOf(returned.id)}/cancel`, { reason: 'returned_to_sender' })
  })

  test("a carrier's event with a time in the future or before the shipment counts from what is possible", async () => {
    for (const at of ['2999-01-01T00:00:00Z', '2001-01-01T00:00:00Z']) {
      const { id, ref } = await parcelWithLabel()
      await send({ type: 'parcel.delivered', ref, at })
      const { status, shipped_at, delivered_at } = await stateOf(id)
      assert.equal(status, 'delivered')
      assert.ok(Date.parse(delivered_at) >= Date.parse(shipped_at))
      assert.ok(Date.parse(delivered_at) <= Date.now() + 60_000)
    }
  })

  test("a carrier's event about an unknown parcel, or of an unknown kind, is ignored", async () => {
    const { id, ref } = await parcelWithLabel()
    const other = await register(
      store.app,
      'other-store',
      { provider: PROVIDER, account: 'other' },
      'standard',
    )
    const foreign = await send({ type: 'parcel.delivered', ref, to: other })
    assert.deepEqual(foreign.outcome, ['ignored', 'no_parcel_of_ours'])
    const unknown = await send({ type: 'parcel.delivered', ref: randomUUID() })
    assert.deepEqual(unknown.outcome, ['ignored', 'no_parcel_of_ours'])
    for (const event of [
      { type: 'parcel.exploded', ref },
      { type: 'transaction.sale.success', ref },
      { type: 'parcel.delivered', ref: 'no id' },
      { type: 'parcel.delivered', ref: { toString: 1 } },
      { type: 'parcel.delivered', ref, at: 'tomorrow' },
    ]) {
      assert.deepEqual((await send(event)).outcome, ['ignored', 'other_type'])
    }
    assert.equal((await stateOf(id)).status, 'shipped')
  })

  test("a carrier's event without the signature of its account is refused", async () => {
    const { id, ref } = await parcelWithLabel()
    const raw = Buffer.from(JSON.stringify({ type: 'parcel.delivered', data: { reference: ref } }))
    const seconds = Math.floor(store.app.runtime.clock.now() / 1_000)
    const forged = signStandard(`whsec_${Buffer.alloc(24, 'other').toString('base64')}`, raw, {
      id: 'forged',
      seconds,
    })
    const refused = await deliver(store.app, path, raw, forged)
    assert.deepEqual([refused.status, refused.body.error.code], [401, 'invalid_signature'])
    assert.equal((await stateOf(id)).status, 'shipped')
  })
})
