import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { deliverParcels } from '../../../src/modules/fulfillment/jobs.ts'
import { assertRefused } from '../../harness/refusals.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()
let store: OrderStore

const days = (auto_deliver_days: unknown) =>
  store.shop.merchant.patch('/v1/my/store', { auto_deliver_days })
const step = () => deliverParcels(store.app.runtime.workerDatabase)
const daysAgo = (count: number) => new Date(Date.now() - count * DAY_MS).toISOString()

/** An order that was shipped in one parcel so many days ago. */
async function shipped(ago: number) {
  const { order } = await store.place()
  const packed = await store.shop.merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
  const { id } = packed.body.fulfillment
  const sent = await store.shop.merchant.post(`/v1/merchant/fulfillments/${id}/ship`, {
    shipped_at: daysAgo(ago),
  })
  assert.equal(sent.status, 200, sent.text)
  return { order_id: order.id as string, id: id as string }
}
const statusOf = async ({ order_id }: { order_id: string }) =>
  (await store.read(order_id)).order.status as string

describe('a parcel of a store that sets auto_deliver_days', () => {
  before(() => {
    store = shared.current
  })

  test('counts as delivered after that many days, once, and says so', async () => {
    assert.equal((await days(7)).body.store.auto_deliver_days, 7)
    const arrived = await shipped(8)
    const underWay = await shipped(6)
    assert.equal(await step(), 1)
    assert.equal(await step(), 0)
    assert.deepEqual([await statusOf(arrived), await statusOf(underWay)], ['delivered', 'shipped'])
    const { timeline, fulfillments } = await store.read(arrived.order_id)
    const { type, actor, data } = timeline.at(-1)
    assert.deepEqual([type, actor, data.fulfillment_id], ['delivered', 'system', arrived.id])
    assert.ok(Date.parse(fulfillments[0].delivered_at) > Date.now() - 60_000)
    const { rows } = await store.superuser.query(
      `select count(*)::int as events from webhook_events
        where type = 'commerce.order.delivered.v1' and order_id = $1`,
      [arrived.order_id],
    )
    assert.equal(rows[0].events, 1)
  })

  test('is left alone if the merchant has marked it as delivered before', async () => {
    await days(7)
    const recalled = await shipped(8)
    const reason = { reason: 'lost' }
    await store.shop.merchant.post(`/v1/merchant/fulfillments/${recalled.id}/cancel`, reason)
    const delivered = await shipped(8)
    await store.shop.merchant.post(`/v1/merchant/fulfillments/${delivered.id}/deliver`)
    assert.equal(await step(), 0)
    assert.equal(await statusOf(recalled), 'placed')
  })

  test('is delivered once, also if workers and merchants do it at the same time', async () => {
    await days(3)
    const parcels = await Promise.all([shipped(4), shipped(4), shipped(4)])
    const by = (id: string) => store.shop.merchant.post(`/v1/merchant/fulfillments/${id}/deliver`)
    const all = await Promise.all([step(), step(), step(), ...parcels.map(({ id }) => by(id))])
    for (const parcel of parcels) {
      const { timeline } = await store.read(parcel.order_id)
      const times = timeline.filter(({ type }: { type: string }) => type === 'delivered')
      assert.equal(times.length, 1)
    }
    const answers = all.slice(3) as { status: number }[]
    const alone = answers.filter(({ status }) => status === 200).length
    assert.ok(answers.every(({ status }) => status === 200 || status === 409))
    const steps = all.slice(0, 3) as number[]
    assert.equal(alone + steps.reduce((sum, each) => sum + each, 0), 3)
  })

  test('is never delivered once the store removes the setting, also if it is set again', async () => {
    await days(1)
    const parcel = await shipped(2)
    assert.equal((await days(null)).body.store.auto_deliver_days, null)
    assert.equal(await step(), 0)
    await days(1)
    assert.equal(await step(), 0)
    assert.equal(await statusOf(parcel), 'shipped')
    const later = await shipped(0)
    assert.equal(await step(), 0, 'the day is not over')
    assert.equal(await statusOf(later), 'shipped')
  })

  test('is never delivered automatically if the store sets nothing', async () => {
    await days(null)
    const parcel = await shipped(300)
    assert.equal(await step(), 0)
    assert.equal(await statusOf(parcel), 'shipped')
  })

  test('is delivered after at least one day and at most a year', async () => {
    await assertRefused(
      [0, -1, 366, 1.5, '7', 1e99].map(
        (each) => [String(each), each, 'invalid_body', 'auto_deliver_days'] as const,
      ),
      days,
    )
  })
})
