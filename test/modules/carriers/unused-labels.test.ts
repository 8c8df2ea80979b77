import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { sha256 } from '../../../src/kernel/tokens.ts'
import { eraseOrders as eraseLabels } from '../../../src/modules/carriers/customer-data.ts'
import { carrierParcelOf } from '../../../src/modules/carriers/service.ts'
import { VOID } from '../../../src/modules/carriers/void-label.ts'
import { eraseOrders as eraseTracking } from '../../../src/modules/fulfillment/customer-data.ts'
import { get as getOrder } from '../../../src/modules/orders/service.ts'
import { claim } from '../../../src/platform/idempotency.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, refusal } from '../returns/setup.ts'
import { ADDRESS, labelsOf, STANDARD, urlOf } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
const { packed, drill, buy, buyUntil, finishDue, voided, readParcel, sold } = labelsOf(shared)

/** Lets the worker handle the events of parcels and labels. */
const runWorker = async () => {
  const { runtime } = store.app
  const handlers = await openHandlers(runtime)
  while ((await deliverDue(runtime.workerDatabase, handlers, { slots: 20 })) > 0);
}

const cancel = (id: string, body: object = {}) =>
  store.shop.merchant.post(`${urlOf(id)}/cancel`, body)

const statesOf = async (id: string) => (await sold(id)).map(({ state }) => state)

const timelineOf = async (id: string): Promise<string[]> =>
  (await store.read(id)).timeline.map(({ type }: { type: string }) => type)

before(() => {
  store = shared.current
})

describe('the label of a parcel that is cancelled', () => {
  test('is voided by the worker, so that it costs nothing, and the timeline says so', async () => {
    const { id, order } = await packed()
    ok(await buy(id), 201)
    ok(await cancel(id))
    assert.deepEqual(await statesOf(id), ['bought'], 'a cancellation waits for no carrier')
    await runWorker()
    assert.deepEqual(await statesOf(id), ['voided'])
    assert.equal((await readParcel(id)).tracking_number, null)
    assert.equal((await timelineOf(order.id)).at(-1), 'label_voided')
    assert.deepEqual(refusal(await voided(id)), [404, 'label_not_found'])
  })

  test('is voided when its order, or the rest of a partly shipped order, is cancelled', async () => {
    const whole = await packed()
    ok(await buy(whole.id), 201)
    ok(await store.merchant(whole.order.id, 'cancel', { reason: 'customer' }))
    const { order, items } = await store.place({ shipping_address: ADDRESS })
    const pack = { items: [{ order_item_id: items[0].id, quantity: 1 }] }
    const path = `/v1/merchant/orders/${order.id}/fulfillments`
    const first = ok(await store.shop.merchant.post(path, pack), 201).fulfillment
    ok(await store.shop.merchant.post(`${urlOf(first.id)}/ship`))
    const rest = ok(await store.shop.merchant.post(path, pack), 201).fulfillment
    ok(await buy(rest.id), 201)
    ok(await store.merchant(order.id, 'cancel-remaining', { reason: 'inventory' }))
    await runWorker()
    assert.deepEqual([await statesOf(whole.id), await statesOf(rest.id)], [['voided'], ['voided']])
  })

  test('is voided after a recall by mistake, and kept if the parcel was lost or came back', async () => {
    const states: Record<string, string[]> = {}
    for (const reason of ['error', 'lost', 'returned_to_sender']) {
      const { id } = await packed()
      ok(await buy(id), 201)
      ok(await store.shop.merchant.post(`${urlOf(id)}/ship`))
      ok(await cancel(id, { reason }))
      await runWorker()
      states[reason] = await statesOf(id)
    }
    assert.deepEqual(states, {
      error: ['voided'],
      lost: ['bought'],
      returned_to_sender: ['bought'],
    })
  })

  test('stays bought if the carrier does not void it, and the timeline names its cost', async () => {
    const { id, order } = await packed()
    const { label } = ok(await buy(id), 201)
    await store.superuser.query(`update sim_shipments set state = 'in_transit' where ref = $1`, [
      label.id,
    ])
    ok(await cancel(id))
    await runWorker()
    const read = ok(await store.shop.merchant.get(`${urlOf(id)}/label`)).label
    assert.deepEqual([read.status, read.cost_cents], ['bought', label.cost_cents])
    assert.equal((await timelineOf(order.id)).at(-1), 'label_not_voided')
  })

  test('is voided once, however often the event comes and the merchant asks', async () => {
    const { id, order } = await packed()
    ok(await buy(id), 201)
    ok(await cancel(id))
    await store.superuser.query(
      `insert into outbox (tenant_ref, type, payload)
       select tenant_ref, type, payload from outbox where payload ->> 'fulfillment_id' = $1`,
      [id],
    )
    await Promise.all([runWorker(), runWorker(), voided(id)])
    assert.deepEqual(await statesOf(id), ['voided'])
    const entries = (await timelineOf(order.id)).filter((type) => type === 'label_voided')
    assert.equal(entries.length, 1)
  })

  test('is found by the key of a lost answer, with the scope of fulfilment alone', async () => {
    const { id } = await packed()
    const key = randomUUID()
    const bought = ok(await buy(id, STANDARD, key), 201)
    const path = `/v1/merchant/idempotency/label/${key}`
    const packer = await store.app.merchant('acme', 'manage:own_fulfillment')
    const found = ok(await packer.get(path))
    assert.deepEqual([found.state, found.status, found.answer], ['answered', 201, bought])
    assert.equal(found.resource_id, bought.label.id)
    const clerk = await store.app.merchant('acme', 'manage:own_orders')
    assert.deepEqual(refusal(await clerk.get(path)), [403, 'forbidden'])
    const stranger = await store.app.merchant('globex')
    assert.deepEqual(refusal(await stranger.get(path)), [404, 'idempotency_key_not_found'])
    const shopper = await store.app.storefront.get(`/v1/tenants/acme/idempotency/label/${key}`)
    assert.deepEqual(refusal(shopper), [404, 'idempotency_key_not_found'])
  })
})

describe('a label that is sold when its parcel needs none any more', () => {
  const ship = async (id: string) => {
    ok(await store.shop.merchant.post(`${urlOf(id)}/ship`))
  }
  const stop = () => {
    throw new Error('stopped')
  }

  for (const [what, leave] of [
    ['was cancelled', async (id: string) => ok(await cancel(id))],
    ['has left', ship],
  ] as const) {
    test(`because it ${what} is voided, and its number is not the parcel's`, async () => {
      const { id, order } = await packed()
      const reply = await buyUntil(id, randomUUID(), 'label-answered', () => leave(id))
      assert.equal(reply.status, 409)
      assert.equal(JSON.parse(reply.body).error.code, 'invalid_transition')
      await runWorker()
      assert.deepEqual(await statesOf(id), ['voided'])
      assert.equal((await readParcel(id)).tracking_number, null)
      assert.equal((await timelineOf(order.id)).at(-1), 'label_voided')
    })

    test(`is not bought by a resume where the parcel ${what}`, async () => {
      const { id } = await packed()
      const key = randomUUID()
      await assert.rejects(buyUntil(id, key, 'label-begun', stop), /stopped/)
      await leave(id)
      assert.equal(await finishDue(), 1)
      assert.deepEqual(await statesOf(id), [])
      await store.superuser.query(
        `update carrier_labels set created_at = created_at - interval '1 hour'
          where fulfillment_id = $1`,
        [id],
      )
      assert.equal(await finishDue(), 1)
      const refused = await buyUntil(id, key, 'never', stop)
      assert.equal(refused.status, 422)
      assert.deepEqual(await statesOf(id), [])
    })
  }

  test('is found also if it was still being sold when it was looked up', async () => {
    const { id, order } = await packed()
    await assert.rejects(buyUntil(id, randomUUID(), 'label-begun', stop), /stopped/)
    await ship(id)
    assert.equal(await finishDue(), 1)
    const { rows } = await store.superuser.query(
      'select id from carrier_labels where fulfillment_id = $1',
      [id],
    )
    const db = store.app.runtime.database.tenant('acme')
    const parcel = await carrierParcelOf(db, await getOrder(db, order.id), {
      weight_grams: 1_000,
      note: '',
    })
    const carrier = store.app.runtime.carriers.open(db, 'simulated')
    assert.equal((await carrier.buy(rows[0].id, 'standard', parcel)).outcome, 'bought')
    assert.equal(await finishDue(), 1)
    await runWorker()
    assert.deepEqual(await statesOf(id), ['voided'])
  })

  const shipWith = async (id: string, tracking_number: string) => {
    ok(await store.shop.merchant.post(`${urlOf(id)}/ship`, { tracking_number }))
  }

  /** Parcels that left with the label, whose purchase was not confirmed then. */
  const users: [
    what: string,
    leave: (id: string, order: string, number: string) => Promise<void>,
  ][] = [
    ['was shipped with its number', (id, _, number) => shipWith(id, number)],
    [
      'was shipped with its number as a person types it',
      (id, _, number) => shipWith(id, ` ${number.slice(0, 5).toLowerCase()} ${number.slice(5)}`),
    ],
    [
      'was shipped with its number, and was lost',
      async (id, _, number) => {
        await shipWith(id, number)
        ok(await cancel(id, { reason: 'lost' }))
      },
    ],
    [
      'was shipped, and whose order was erased',
      async (id, order, number) => {
        await shipWith(id, number)
        const db = store.app.runtime.database.tenant('acme')
        await db.transaction('test: erase', async (tx) => {
          await eraseLabels(tx, [order])
          await eraseTracking(tx, [order])
        })
        await store.superuser.query('update orders set ship_to = null where id = $1', [order])
      },
    ],
  ]
  for (const [what, leave] of users) {
    test(`is the label of a parcel that ${what}`, async () => {
      const { id, order } = await drill('00002')
      const key = randomUUID()
      assert.deepEqual(refusal(await buy(id, STANDARD, key)), [503, 'carrier_unconfirmed'])
      const [{ tracking_number }] = await sold(id)
      await leave(id, order.id, tracking_number)
      assert.equal(await finishDue(), 1)
      await runWorker()
      assert.deepEqual(await statesOf(id), ['bought'])
      assert.equal((await buy(id, STANDARD, key)).status, 201)
      const { rows } = await store.superuser.query(
        `select tracking_number is null as is_erased, unused from carrier_labels
          where fulfillment_id = $1`,
        [id],
      )
      assert.deepEqual(rows, [{ is_erased: what.includes('erased'), unused: false }])
    })
  }

  test('is not voided once its number is on the parcel', async () => {
    const { id } = await packed()
    await buyUntil(id, randomUUID(), 'label-answered', () => ship(id))
    const { label } = ok(await store.shop.merchant.get(`${urlOf(id)}/label`))
    const { tracking_number } = label
    ok(await store.shop.merchant.patch(`${urlOf(id)}/tracking`, { tracking_number }))
    await runWorker()
    assert.deepEqual(await statesOf(id), ['bought'])
    assert.deepEqual(refusal(await voided(id)), [409, 'invalid_transition'])
    assert.equal((await readParcel(id)).tracking_number, tracking_number)
  })

  test('is found when the operation resumes, and voided, too', async () => {
    const { id } = await drill('00002')
    assert.deepEqual(refusal(await buy(id)), [503, 'carrier_unconfirmed'])
    await ship(id)
    assert.equal(await finishDue(), 1)
    await runWorker()
    assert.deepEqual(await statesOf(id), ['voided'])
  })

  test('never becomes the label of its parcel, also if the carrier does not void it', async () => {
    const { id, order } = await packed()
    await buyUntil(id, randomUUID(), 'label-answered', () => ship(id))
    await store.superuser.query(
      `update sim_shipments set state = 'in_transit'
        where ref = (select id from carrier_labels where fulfillment_id = $1)`,
      [id],
    )
    await runWorker()
    assert.equal((await readParcel(id)).tracking_number, null)
    assert.equal((await timelineOf(order.id)).at(-1), 'label_not_voided')
    const { label } = ok(await store.shop.merchant.get(`${urlOf(id)}/label`))
    assert.deepEqual([label.status, label.unused], ['bought', true])
    const print = await store.shop.merchant.get(`${urlOf(id)}/label.pdf`)
    assert.deepEqual(refusal(print), [404, 'label_not_found'])
    assert.deepEqual(refusal(await voided(id)), [409, 'label_not_voidable'])
    assert.equal((await readParcel(id)).tracking_number, null)
  })

  test('is voided after a void whose process stopped before it began', async () => {
    const { id } = await packed()
    const { label } = ok(await buy(id), 201)
    const key = `void ${label.id} 0`
    const db = store.app.runtime.database.tenant('acme')
    await claim(db, { operation: VOID, key, fingerprint: sha256(key) })
    ok(await cancel(id))
    await runWorker()
    assert.deepEqual(await statesOf(id), ['bought'], 'another process has it')
    await finishDue()
    await store.superuser.query(
      'update outbox set next_attempt_at = now() where handled_at is null',
    )
    await runWorker()
    assert.deepEqual(await statesOf(id), ['voided'])
  })
})
