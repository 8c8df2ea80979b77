import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { boundedCarrier, type Carrier } from '../../../src/modules/carriers/adapters/carrier.ts'
import { eraseOrders } from '../../../src/modules/carriers/customer-data.ts'
import { listRates, printLabel } from '../../../src/modules/carriers/service.ts'
import { voidLabel } from '../../../src/modules/carriers/void-label.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import type { Answer } from '../../harness/app.ts'
import { expireAllClaims } from '../../harness/operations.ts'
import { readPdf } from '../../harness/pdf-text.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ADDRESS, labelsOf, STANDARD, urlOf } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore

/** Postcodes that the simulated carrier treats in its own way. */
const REFUSED = '00001'
const SILENT_AFTER = '00002'
const SILENT_BEFORE = '00003'

const { packed, drill, buy, buyUntil, finishDue, voided, readParcel, sold } = labelsOf(shared)
const refusal = ({ status, body }: Answer) => [status, body.error?.code]

describe('shipping labels', () => {
  before(() => {
    store = shared.current
  })

  describe('GET /v1/merchant/fulfillments/rates', () => {
    test('lists the price of each service, higher for a heavier parcel', async () => {
      const { order } = await packed()
      const ratesOf = async (query: string) => {
        const path = `/v1/merchant/fulfillments/rates?order_id=${order.id}${query}`
        const answer = await store.shop.merchant.get(path)
        assert.equal(answer.status, 200, answer.text)
        return answer.body.rates as Record<string, unknown>[]
      }
      const light = await ratesOf('')
      assert.deepEqual(light[0], {
        carrier: 'simulated',
        service: 'standard',
        name: 'Standard',
        amount_cents: 610,
        currency: 'USD',
        days_min: 2,
        days_max: 5,
      })
      assert.equal(light.length, 2)
      assert.deepEqual(await ratesOf('&weight_grams=1000'), light)
      const path = `/v1/merchant/fulfillments/rates?order_id=${order.id}&weight_grams=nonsense`
      const refused = await store.shop.merchant.get(path)
      assert.deepEqual([refused.status, refused.body.error.code], [400, 'validation_error'])
      const [heavy] = await ratesOf('&weight_grams=2001')
      assert.equal(heavy?.amount_cents, 850)
    })

    test('is refused without an order or an address', async () => {
      const path = '/v1/merchant/fulfillments/rates'
      for (const query of ['', '?order_id=x', `?order_id=${randomUUID()}`]) {
        const answer = await store.shop.merchant.get(path + query)
        assert.deepEqual(refusal(answer), [404, 'order_not_found'])
      }
      const { order } = await store.place()
      const answer = await store.shop.merchant.get(`${path}?order_id=${order.id}`)
      assert.deepEqual(refusal(answer), [409, 'ship_to_missing'])
      const globex = await store.app.merchant('globex')
      const foreign = await globex.get(`${path}?order_id=${order.id}`)
      assert.deepEqual(refusal(foreign), [404, 'order_not_found'])
      const lesser = await store.app.merchant('acme', 'read:own_orders')
      assert.deepEqual(refusal(await lesser.get(path)), [403, 'forbidden'])
    })

    test('answers 503 for rates and labels while the carrier does not answer', async () => {
      const { order, id } = await packed()
      await buy(id)
      const { carriers, database } = store.app.runtime
      const open: typeof carriers.open = (db, name) => ({
        ...carriers.open(db, name),
        rates: async () => null,
        print: async () => ({ found: 'unreachable' }),
      })
      const db = database.tenant('acme')
      const refused = { code: 'carrier_unavailable', status: 503 }
      await assert.rejects(listRates({ carriers: { open } }, db, order.id), refused)
      await assert.rejects(printLabel({ carriers: { open } }, db, id), refused)
    })
  })

  describe('POST /v1/merchant/fulfillments/{id}/label', () => {
    test('buys a label, which the parcel follows, and records its cost', async () => {
      const { id, order } = await packed({}, 1_500)
      const bought = await buy(id)
      assert.equal(bought.status, 201, bought.text)
      const { label, fulfillment } = bought.body
      assert.match(label.tracking_number, /^SIM\d{15}$/)
      assert.deepEqual(
        [label.status, label.cost_cents, label.currency, label.weight_grams],
        ['bought', 730, 'USD', 1_500],
      )
      assert.deepEqual(
        [fulfillment.carrier, fulfillment.service, fulfillment.tracking_number],
        ['Simulated carrier', 'standard', label.tracking_number],
      )
      assert.equal(
        fulfillment.tracking_url,
        `https://carrier.example/track/${label.tracking_number}`,
      )
      assert.deepEqual(await readParcel(id), fulfillment)
      const read = await store.shop.merchant.get(`${urlOf(id)}/label`)
      assert.deepEqual(read.body, { label })
      const { timeline } = await store.read(order.id)
      const entry = timeline.at(-1)
      assert.deepEqual([entry.type, entry.data.cost_cents], ['label_bought', 730])
    })

    test('prints the label of the carrier: the address, the sender and the barcode', async () => {
      const { id } = await packed()
      const { label } = (await buy(id)).body
      const printed = await store.shop.merchant.get(`${urlOf(id)}/label.pdf`)
      assert.equal(printed.headers['content-type'], 'application/pdf')
      assert.match(printed.headers['content-disposition'] ?? '', /^inline; filename="label-/)
      const [texts = []] = readPdf(printed.bytes).pages
      for (const text of ['Ann Example', '10115 Berlin', 'Germany', label.tracking_number]) {
        assert.ok(texts.includes(text), `${text} in ${texts.join(' | ')}`)
      }
      assert.ok(!texts.includes('Home'), 'a label is no name')
    })

    test('buys one label, also if several callers ask several times', async () => {
      const { id } = await packed()
      const key = randomUUID()
      const same = await Promise.all(Array.from({ length: 10 }, () => buy(id, STANDARD, key)))
      assert.deepEqual(new Set(same.map(({ status }) => status)), new Set([201]))
      assert.equal(new Set(same.map(({ text }) => text)).size, 1)
      const { id: other } = await packed()
      const rivals = await Promise.all(Array.from({ length: 10 }, () => buy(other)))
      assert.equal(rivals.filter(({ status }) => status === 201).length, 1)
      for (const answer of rivals.filter(({ status }) => status !== 201)) {
        assert.deepEqual(refusal(answer), [409, 'label_exists'])
      }
      for (const each of [id, other]) assert.equal((await sold(each)).length, 1)
      assert.deepEqual(refusal(await buy(id, { ...STANDARD, service: 'express' }, key)), [
        422,
        'idempotency_key_reused',
      ])
    })

    test('is refused for a parcel that is not packed or on hold, without an address, or for an unknown service', async () => {
      const { id, order } = await packed()
      assert.deepEqual(refusal(await buy(randomUUID())), [404, 'fulfillment_not_found'])
      const unknown = await buy(id, { ...STANDARD, service: 'drone' })
      assert.deepEqual(refusal(unknown), [422, 'unknown_service'])
      assert.deepEqual(unknown.body.services, ['standard', 'express'])
      assert.equal((await buy(id, { carrier: 'pigeon', service: 'standard' })).status, 400)
      assert.equal((await buy(id, { carrier: 'simulated' })).status, 400)
      const bare = await store.shop.merchant.post(`${urlOf(id)}/label`, STANDARD)
      assert.deepEqual(refusal(bare), [400, 'idempotency_key_required'])
      await store.merchant(order.id, 'hold')
      assert.deepEqual(refusal(await buy(id)), [409, 'order_on_hold'])
      await store.merchant(order.id, 'release')
      await store.shop.merchant.post(`${urlOf(id)}/ship`)
      assert.deepEqual(refusal(await buy(id)), [409, 'invalid_transition'])
      const { order: unaddressed } = await store.place()
      const made = await store.shop.merchant.post(
        `/v1/merchant/orders/${unaddressed.id}/fulfillments`,
      )
      assert.deepEqual(refusal(await buy(made.body.fulfillment.id)), [409, 'ship_to_missing'])
      assert.deepEqual(await sold(id), [])
    })

    test('tells why the carrier refused the label, and lets another key try again', async () => {
      const { id } = await drill(REFUSED)
      const key = randomUUID()
      const refused = await buy(id, STANDARD, key)
      assert.deepEqual(refusal(refused), [422, 'label_refused'])
      assert.equal(refused.body.reason, 'the address is not served')
      assert.equal((await buy(id, STANDARD, key)).text, refused.text)
      assert.deepEqual(refusal(await buy(id)), [422, 'label_refused'])
      assert.equal((await readParcel(id)).tracking_number, null)
    })

    test('finds a label again by its reference if the carrier sold it and did not answer', async () => {
      const { id } = await drill(SILENT_AFTER)
      const key = randomUUID()
      assert.deepEqual(refusal(await buy(id, STANDARD, key)), [503, 'carrier_unconfirmed'])
      const print = await store.shop.merchant.get(`${urlOf(id)}/label.pdf`)
      assert.deepEqual(refusal(print), [503, 'carrier_unconfirmed'], 'nothing to stick on yet')
      assert.deepEqual(refusal(await buy(id)), [409, 'label_exists'])
      assert.deepEqual(refusal(await voided(id)), [409, 'order_busy'])
      await expireAllClaims(store.superuser)
      const found = await buy(id, STANDARD, key)
      assert.equal(found.status, 201, found.text)
      assert.equal((await sold(id)).length, 1)
      assert.equal((await readParcel(id)).tracking_number, found.body.label.tracking_number)
    })

    test('does not use a label that was voided at the carrier before its answer came', async () => {
      const { id } = await drill(SILENT_AFTER)
      const key = randomUUID()
      assert.deepEqual(refusal(await buy(id, STANDARD, key)), [503, 'carrier_unconfirmed'])
      await store.superuser.query(
        `update sim_shipments set state = 'voided'
        where ref = (select id from carrier_labels where fulfillment_id = $1)`,
        [id],
      )
      await finishDue()
      assert.deepEqual(refusal(await buy(id, STANDARD, key)), [422, 'label_refused'])
      assert.equal((await readParcel(id)).tracking_number, null)
    })

    test('gives up a label if the carrier never answers, and leaves no label behind', async () => {
      const { id } = await drill(SILENT_BEFORE)
      const key = randomUUID()
      assert.deepEqual(refusal(await buy(id, STANDARD, key)), [503, 'carrier_unconfirmed'])
      assert.equal(await finishDue(), 1)
      const open = await store.shop.merchant.get(`${urlOf(id)}/label`)
      assert.equal(open.body.label.status, 'buying', 'it is asked again for a while')
      await store.superuser.query(
        `update carrier_labels set created_at = created_at - interval '1 hour'
          where fulfillment_id = $1`,
        [id],
      )
      await finishDue()
      assert.deepEqual(refusal(await buy(id, STANDARD, key)), [422, 'label_refused'])
      const none = await store.shop.merchant.get(`${urlOf(id)}/label`)
      assert.deepEqual(refusal(none), [404, 'label_not_found'])
      assert.deepEqual(await sold(id), [])
    })

    test('looks a label up less and less often while the carrier does not answer', async () => {
      const { id } = await drill(SILENT_BEFORE)
      assert.deepEqual(refusal(await buy(id)), [503, 'carrier_unconfirmed'])
      const { carriers } = store.app.runtime
      const open: typeof carriers.open = (db, name) => ({
        ...carriers.open(db, name),
        track: async () => ({ found: 'unreachable' }),
      })
      const waits: number[] = []
      for (const age of [0, 120, 1_200]) {
        await store.superuser.query(
          `update carrier_labels set updated_at = now() - make_interval(secs => $2)
            where fulfillment_id = $1`,
          [id, age],
        )
        await finishDue({ carriers: { open } })
        const { rows } = await store.superuser.query(
          `select round(extract(epoch from k.next_attempt_at - now()))::int as seconds
             from idempotency_keys k join carrier_labels l on l.id = k.resource_id
            where l.fulfillment_id = $1`,
          [id],
        )
        waits.push(rows[0].seconds)
      }
      for (const [at, most] of [10, 60, 300].entries()) {
        const seconds = waits[at] ?? 0
        assert.ok(seconds > most - 10 && seconds <= most, `${waits}`)
      }
      assert.equal(await finishDue(), 1, 'it answers again')
      await store.superuser.query(
        `update carrier_labels set created_at = created_at - interval '1 hour'
          where fulfillment_id = $1`,
        [id],
      )
      await finishDue()
    })

    for (const point of ['label-begun', 'label-answered']) {
      test(`is finished by the loop when its process stops at ${point}`, async () => {
        const { id } = await packed()
        const key = randomUUID()
        const stop = () => {
          throw new Error('stopped')
        }
        await assert.rejects(buyUntil(id, key, point, stop), /stopped/)
        assert.equal((await readParcel(id)).tracking_number, null)
        assert.equal(await finishDue(), 1)
        const [only, ...more] = await sold(id)
        assert.deepEqual(more, [])
        assert.equal((await readParcel(id)).tracking_number, only.tracking_number)
      })
    }
  })

  describe('DELETE /v1/merchant/fulfillments/{id}/label', () => {
    test('voids the label, removes it from the parcel, and lets another be bought', async () => {
      const { id, order } = await packed()
      const first = (await buy(id)).body.label
      const answers = await Promise.all([voided(id), voided(id), voided(id)])
      assert.ok(answers.some(({ status }) => status === 200))
      for (const each of answers) assert.ok([200, 404].includes(each.status), each.text)
      const done = answers.find(({ status }) => status === 200)
      assert.equal(done?.body.label.status, 'voided')
      const parcel = await readParcel(id)
      assert.deepEqual([parcel.carrier, parcel.tracking_number], [null, null])
      assert.deepEqual(refusal(await voided(id)), [404, 'label_not_found'])
      const print = await store.shop.merchant.get(`${urlOf(id)}/label.pdf`)
      assert.deepEqual(refusal(print), [404, 'label_not_found'])
      const second = (await buy(id, { ...STANDARD, service: 'express' })).body.label
      assert.notEqual(second.tracking_number, first.tracking_number)
      assert.equal((await readParcel(id)).tracking_number, second.tracking_number)
      const { timeline } = await store.read(order.id)
      const types = timeline.map(({ type }: { type: string }) => type)
      assert.deepEqual(types.slice(-3), ['label_bought', 'label_voided', 'label_bought'])
      assert.deepEqual(
        (await sold(id)).map(({ state }) => state),
        ['voided', 'bought'],
      )
    })

    test('is refused once the parcel was shipped, and without a label', async () => {
      const { id } = await packed()
      assert.deepEqual(refusal(await voided(id)), [404, 'label_not_found'])
      await buy(id)
      await store.shop.merchant.post(`${urlOf(id)}/ship`)
      assert.deepEqual(refusal(await voided(id)), [409, 'invalid_transition'])
      assert.deepEqual(refusal(await voided(randomUUID())), [404, 'fulfillment_not_found'])
      assert.equal((await readParcel(id)).status, 'shipped')
    })

    test('refuses to void a label that the carrier has used; the parcel keeps it', async () => {
      const { id } = await packed()
      const { label } = (await buy(id)).body
      await store.superuser.query(`update sim_shipments set state = 'in_transit' where ref = $1`, [
        label.id,
      ])
      for (let tries = 0; tries < 2; tries++) {
        assert.deepEqual(refusal(await voided(id)), [409, 'label_not_voidable'])
        assert.equal((await readParcel(id)).tracking_number, label.tracking_number)
      }
      const read = await store.shop.merchant.get(`${urlOf(id)}/label`)
      assert.equal(read.body.label.status, 'bought')
    })

    test('lets the loop finish a void that the carrier does not answer', async () => {
      const { id } = await packed()
      await buy(id)
      const { carriers } = store.app.runtime
      const open: typeof carriers.open = (db, name) => ({
        ...carriers.open(db, name),
        void: async () => 'unknown',
      })
      const db = store.app.runtime.database.tenant('acme')
      await assert.rejects(voidLabel({ carriers: { open } }, db, SYSTEM, id), {
        code: 'carrier_unconfirmed',
      })
      assert.equal((await readParcel(id)).tracking_number, null, 'it is not shipped with it')
      const print = await store.shop.merchant.get(`${urlOf(id)}/label.pdf`)
      assert.deepEqual(refusal(print), [503, 'carrier_unconfirmed'], 'nor printed')
      assert.equal(await finishDue(), 1)
      assert.deepEqual(
        (await sold(id)).map(({ state }) => state),
        ['voided'],
      )
    })

    test('is not sent to the carrier by a process that was overtaken', async () => {
      const { id } = await packed()
      const { label } = (await buy(id)).body
      const setState = (state: string) =>
        store.superuser.query('update sim_shipments set state = $1 where ref = $2', [
          state,
          label.id,
        ])
      const at = async (point: string) => {
        if (point !== 'void-begun') return
        await setState('in_transit')
        assert.equal(await finishDue(), 1)
        await setState('bought')
      }
      const { carriers, database } = store.app.runtime
      const reply = await voidLabel({ carriers, at }, database.tenant('acme'), SYSTEM, id)
      assert.equal(reply.status, 409, 'the answer of the other process')
      const read = await store.shop.merchant.get(`${urlOf(id)}/label`)
      assert.equal(read.body.label.status, 'bought', 'as the other process has written')
      assert.deepEqual(
        (await sold(id)).map(({ state }) => state),
        ['bought'],
      )
    })
  })

  test('show no data of an erased person, and neither do their stored answers', async () => {
    const { id, order } = await packed()
    const key = randomUUID()
    const { label } = (await buy(id, STANDARD, key)).body
    const db = store.app.runtime.database.tenant('acme')
    await db.transaction('test: erase', (tx) => eraseOrders(tx, [order.id]))
    const again = await buy(id, STANDARD, key)
    assert.equal(again.status, 201)
    assert.ok(!again.text.includes(label.tracking_number))
    const print = await store.shop.merchant.get(`${urlOf(id)}/label.pdf`)
    assert.deepEqual(refusal(print), [404, 'label_not_found'])
    const { rows } = await store.superuser.query(
      'select shipment from sim_shipments where ref = $1',
      [label.id],
    )
    assert.deepEqual(rows, [{ shipment: null }])
  })
})

test('a carrier that fails or hangs is a missing answer, and never a rejection', async () => {
  const faults: unknown[] = []
  const never = new Promise<never>(() => {})
  const broken = async () => {
    throw new Error('broken')
  }
  const base = { name: 'simulated', title: 'x', services: [] } as const
  const boundOf = (call: () => Promise<never>): Carrier =>
    boundedCarrier(
      {
        ...base,
        rates: call,
        buy: call,
        void: call,
        track: call,
        print: call,
        receive: call,
      },
      { deadlineMs: 5, printDeadlineMs: 5, onFault: (error) => faults.push(error) },
    )
  for (const carrier of [boundOf(() => never), boundOf(broken)]) {
    const shipment = { from: [], to: ADDRESS, weight_grams: 1, currency: 'USD', note: '' } as never
    assert.equal(await carrier.rates(shipment), null)
    assert.deepEqual(await carrier.buy('x', 'y', shipment), { outcome: 'unknown' })
    assert.equal(await carrier.void('x'), 'unknown')
    assert.deepEqual(await carrier.track('x'), { found: 'unreachable' })
    assert.deepEqual(await carrier.print('x'), { found: 'unreachable' })
  }
  assert.equal(faults.length, 5)
})
