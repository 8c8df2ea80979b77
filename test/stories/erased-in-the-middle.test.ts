import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { makeDueExports } from '../../src/modules/privacy/jobs.ts'
import { eraseDeliveredEvents } from '../../src/modules/webhooks/jobs.ts'
import { runWorker } from '../harness/books.ts'
import { dumpText } from '../harness/superuser.ts'
import { keyed } from '../modules/orders/setup.ts'
import { ok, refusal } from '../modules/returns/setup.ts'
import { beginStory, TERMS } from './story.ts'

const ERASE = '/v1/my/privacy/erase'
const REASON = 'my neighbour Quentin sat on it'

/** A carrier shows name and address under it. */
const NUMBER = '1Z999AA10123456784'

/** Everything by which the shopper could be known. */
const PERSONAL = [
  NUMBER,
  TERMS.email,
  TERMS.name,
  TERMS.shipping_address.line1,
  'Quentin',
  'the-person-of-this-story',
]

test('a shopper is erased with a parcel under way and a return open, and the merchant finishes the order', async (t) => {
  const story = await beginStory(t)
  const { merchant, store } = story
  const { app, superuser } = story.store
  const customer = { customer_ref: 'the-person-of-this-story' }
  await story.sells({
    lamp: { price: 4_999, at: { default: 2 } },
    vase: { price: 2_345, at: { default: 1 } },
    rug: { price: 3_333, at: { east: 2 } },
    desk: { price: 9_999, at: { default: 1 } },
  })
  const order = await story.buys({ lamp: 2, vase: 1, rug: 2, desk: 1 }, customer)
  const arrived = await story.packs(order, { lamp: 2 })
  const key = randomUUID()
  const ship = () =>
    merchant.post(
      `/v1/merchant/fulfillments/${arrived.id}/ship`,
      { carrier: 'UPS', tracking_number: NUMBER },
      keyed(key),
    )
  assert.equal(ok(await ship()).fulfillment.tracking_number, NUMBER)
  await story.delivers(arrived)

  // One parcel is under way with a label, one is packed, the desk is not even that. A lamp comes back.
  const sent = await story.packs(order, { rug: 2 })
  const label = { carrier: 'simulated', service: 'standard' }
  const bought = ok(
    await merchant.post(`/v1/merchant/fulfillments/${sent.id}/label`, label, keyed()),
    201,
  ).label
  await story.ships(sent)
  const packed = await story.packs(order, { vase: 1 })
  const lines = story.linesOf(order, { lamp: 1 }).map((line) => ({ ...line, reason: REASON }))
  const asked = await story.returns.request(order.id, lines, customer.customer_ref)
  const returned = ok(await story.returns.act(ok(asked, 201).return.id, 'approve', {})).return
  await runWorker(app)

  // What the store knows of the person is exported first, as the law wants it.
  const exported = await merchant.post('/v1/my/privacy/export', customer)
  await makeDueExports(app.runtime.workerDatabase, {
    exportKey: app.runtime.key('privacy export'),
    customersKey: app.runtime.key('customers'),
  })
  const { data } = ok(await merchant.get(`/v1/my/privacy/exports/${exported.body.job.id}`))
  assert.equal(data.orders[0].fulfillments.length, 3)
  assert.equal(data.orders[0].fulfillments[1].tracking_number, bought.tracking_number)
  assert.equal(data.orders[0].returns[0].lines[0].reason, REASON)

  const shown = await merchant.post(ERASE, customer)
  assert.deepEqual([shown.status, shown.body.orders, shown.body.open_orders], [202, 1, 1])
  const { confirm } = shown.body
  const erased = await merchant.post(ERASE, { ...customer, confirm }, keyed())
  assert.equal(ok(erased).erasure.orders, 1)

  // The goods go on. The parcel arrives, and the lamp is received and refunded to the card.
  await story.delivers(sent)
  const received = await story.receives(order, returned, { lamp: [1, 'restock'] })
  const net = order.total - received.refund.amount_cents
  assert.equal(await store.net(order.id), net)
  assert.deepEqual(await story.stockOf('lamp'), { default: [1, 0] })

  // No label can be bought for an address that is gone; the parcel could only be handed over.
  const blind = await merchant.post(`/v1/merchant/fulfillments/${packed.id}/label`, label, keyed())
  assert.deepEqual(refusal(blind), [409, 'ship_to_missing'])
  const { cancelled, refund } = ok(
    await story.does(order, 'cancel-remaining', { reason: 'customer' }),
  )
  assert.equal(cancelled.length, 2)
  assert.equal(await store.net(order.id), net - refund.amount_cents)
  assert.deepEqual(
    [await story.stockOf('vase'), await story.stockOf('desk')],
    [{ default: [1, 0] }, { default: [1, 0] }],
  )
  const { order: done, returns } = await story.reads(order)
  assert.deepEqual([done.fulfillment_status, returns[0].status], ['delivered', 'closed'])
  assert.equal(done.email, null)

  const replayed = await ship()
  assert.equal(ok(replayed).fulfillment.tracking_number, null, 'its stored answer is erased, too')
  assert.equal(replayed.headers['idempotent-replayed'], 'true')

  // Another person may come under the same reference: a stranger, who sees nothing of this.
  const stranger = await app.storefront.get(
    `/v1/tenants/acme/orders/${order.id}?customer_ref=${customer.customer_ref}`,
  )
  assert.equal(stranger.status, 404)

  await runWorker(app)
  await eraseDeliveredEvents(app.runtime.workerDatabase)
  const dump = await dumpText(superuser)
  for (const text of PERSONAL) assert.ok(!dump.includes(text), `${text} is still there`)
  const rowsWith = dump.split('\n').filter((row) => row.includes(bought.tracking_number))
  assert.equal(rowsWith.length, 1, 'only the carrier itself has the number, and no name with it')
  const { rows } = await superuser.query(
    `select kind, recipient from shopper_mails where order_id = $1 and recipient is not null`,
    [order.id],
  )
  assert.deepEqual(rows, [], 'no mail has an address to go to')
  await story.assertBooks()
})
