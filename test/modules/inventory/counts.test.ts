import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Answer, Caller } from '../../harness/app.ts'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { addVariant, stock } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { recountNow } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller
const URL = '/v1/merchant/inventory/counts'

const ok = (answer: Answer, status = 200) => {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}
const tracked = async (on_hand: number) => {
  const variant = await addVariant(merchant, 1_000)
  await stock(merchant, variant, on_hand)
  return variant
}
const onHand = async (variant: string) =>
  ok(await merchant.get(`/v1/merchant/inventory/${variant}`)).item.on_hand as number
const begin = async (...variant_ids: string[]) =>
  ok(await merchant.post(URL, { location_id: 'default', variant_ids }), 201).count
const enter = (id: string, lines: object[]) => merchant.put(`${URL}/${id}/lines`, { lines })
const post = (id: string, body?: object, headers = {}) =>
  merchant.post(`${URL}/${id}/post`, body, headers)
const packed = async (variant_id: string, quantity: number) => {
  const { order } = await store.place({ items: [{ variant_id, quantity }] })
  const { fulfillment } = ok(
    await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`),
    201,
  )
  return fulfillment.id as string
}
const ship = async (parcel: string) =>
  ok(await merchant.post(`/v1/merchant/fulfillments/${parcel}/ship`))

describe('a cycle count', () => {
  before(() => {
    store = shared.current
    merchant = store.shop.merchant
  })

  test('freezes the expected numbers, and posts the differences with their reasons', async () => {
    const [a, b, c] = [await tracked(10), await tracked(5), await tracked(7)]
    const count = await begin(a, b, c)
    assert.deepEqual([count.status, count.location_id, count.lines.length], ['open', 'default', 3])
    ok(
      await enter(count.id, [
        { variant_id: a.toUpperCase(), counted: 8, reason: 'stolen' },
        { variant_id: b, counted: 6 },
      ]),
    )
    const { count: read } = ok(await merchant.get(`${URL}/${count.id}`))
    const differences = Object.fromEntries(
      read.lines.map((line: { variant_id: string; difference: number | null }) => [
        line.variant_id,
        line.difference,
      ]),
    )
    assert.deepEqual(differences, { [a]: -2, [b]: 1, [c]: null })
    assert.equal(await onHand(a), 10, 'nothing changes before it is posted')
    const posted = ok(await post(count.id, { reason: 'yearly' })).count
    assert.equal(posted.status, 'posted')
    assert.deepEqual([await onHand(a), await onHand(b), await onHand(c)], [8, 6, 7])
    const { movements } = ok(await merchant.get('/v1/merchant/inventory/movements?limit=2'))
    assert.deepEqual(
      movements
        .map((each: Record<string, unknown>) => [each.quantity, each.reason, each.count_id])
        .toSorted(),
      [
        [-2, 'stolen', count.id],
        [1, 'yearly', count.id],
      ].toSorted(),
    )
    for (const verb of ['post', 'cancel']) {
      const again = await merchant.post(`${URL}/${count.id}/${verb}`)
      assert.equal(again.body.error.code, 'invalid_transition')
    }
  })

  test('counts no unit twice that is shipped between the freeze and the posting', async () => {
    const variant = await tracked(10)
    const [before_, between] = [await packed(variant, 2), await packed(variant, 3)]
    const count = await begin(variant)
    await ship(before_)
    // One is missing. On paper since the freeze: 9. On the shelf by now: 7.
    ok(await enter(count.id, [{ variant_id: variant, counted: 9 }]))
    const now = ok(await enter(count.id, [{ variant_id: variant, counted: 7, as_of: 'now' }])).count
    assert.deepEqual([now.lines[0].moved, now.lines[0].difference], [-2, -1])
    const paper = ok(await enter(count.id, [{ variant_id: variant, counted: 9 }])).count
    assert.deepEqual([paper.lines[0].moved, paper.lines[0].difference], [0, -1])
    await ship(between)
    ok(await post(count.id))
    assert.equal(await onHand(variant), 10 - 2 - 3 - 1)
  })

  test('covers all variants of a location if none is named', async () => {
    const location_id = `l-${randomUUID()}`
    ok(await merchant.post('/v1/merchant/inventory/locations', { id: location_id, name: 'L' }), 201)
    const empty = ok(await merchant.post(URL, { location_id }), 201).count
    assert.deepEqual(empty.lines, [])
    ok(await merchant.post(`${URL}/${empty.id}/cancel`))
    const variant = await tracked(1)
    const adjust = { location_id, delta: 4, reason: 'came' }
    ok(await merchant.post(`/v1/merchant/inventory/${variant}/adjust`, adjust))
    const { lines } = ok(await merchant.post(URL, { location_id }), 201).count
    assert.deepEqual(
      lines.map((line: { variant_id: string; expected: number }) => [
        line.variant_id,
        line.expected,
      ]),
      [[variant, 4]],
    )
  })

  test('a level has one cycle count at a time, and a cancelled one changes nothing', async () => {
    const variant = await tracked(3)
    const answers = await times(4, () =>
      merchant.post(URL, { location_id: 'default', variant_ids: [variant] }),
    )
    assert.deepEqual(countStatuses(answers), { 201: 1, 409: 3 })
    const refused = answers.find(({ status }) => status === 409)
    assert.equal(refused?.body.error.code, 'count_in_progress')
    const id = answers.find(({ status }) => status === 201)?.body.count.id as string
    ok(await enter(id, [{ variant_id: variant, counted: 0 }]))
    assert.equal(ok(await merchant.post(`${URL}/${id}/cancel`)).count.status, 'cancelled')
    assert.equal(await onHand(variant), 3)
    assert.equal((await begin(variant)).status, 'open')
  })

  test('a cycle count that finds more units missing than there are is refused as a whole', async () => {
    const variant = await tracked(4)
    const parcel = await packed(variant, 3)
    const count = await begin(variant)
    ok(await enter(count.id, [{ variant_id: variant, counted: 1 }]))
    await ship(parcel)
    const refused = await post(count.id)
    assert.deepEqual([refused.status, refused.body.error.code], [422, 'stock_below_zero'])
    assert.deepEqual(refused.body.items, [{ variant_id: variant, difference: -3, on_hand: 1 }])
    ok(await enter(count.id, [{ variant_id: variant, counted: null }]))
    ok(await post(count.id))
    assert.equal(await onHand(variant), 1, 'a line that was not counted is left as it is')
  })

  test('is posted once beside shipments, also if many callers post it', async () => {
    const variant = await tracked(20)
    const parcels = [await packed(variant, 2), await packed(variant, 2), await packed(variant, 2)]
    const count = await begin(variant)
    ok(await enter(count.id, [{ variant_id: variant, counted: 17 }]))
    const [posts] = await Promise.all([
      times(4, () => post(count.id)),
      Promise.all(parcels.map(ship)),
    ])
    assert.deepEqual(countStatuses(posts), { 200: 1, 409: 3 })
    assert.equal(await onHand(variant), 20 - 6 - 3)
  })

  test('is posted once for its key', async () => {
    const variant = await tracked(5)
    const count = await begin(variant)
    ok(await enter(count.id, [{ variant_id: variant, counted: 4 }]))
    const headers = { 'idempotency-key': randomUUID() }
    const answers = await times(4, () => post(count.id, {}, headers))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(answers[0]?.status, 200)
    assert.equal(await onHand(variant), 4)
  })

  test('is refused for variants and locations that the store does not have', async () => {
    const variant = await tracked(1)
    const other = await tracked(1)
    const good = { location_id: 'default', variant_ids: [variant] }
    await assertRefused(
      [
        ['no location', { ...good, location_id: 'nowhere' }, 'location_not_found'],
        ['no variant', { ...good, variant_ids: [randomUUID()] }, 'variant_not_found'],
        ['no id', { ...good, variant_ids: ['x'] }, 'variant_not_found'],
        ['none', { ...good, variant_ids: [] }, 'invalid_body', 'variant_ids'],
      ],
      (body) => merchant.post(URL, body),
    )
    const { id } = await begin(variant)
    const line = { variant_id: variant, counted: 1 }
    await assertRefused(
      [
        ['another variant', { lines: [{ ...line, variant_id: other }] }, 'variant_not_found'],
        ['no id', { lines: [{ ...line, variant_id: 'x' }] }, 'variant_not_found'],
        ['one twice', { lines: [line, line] }, 'invalid_body', 'lines'],
        [
          'less than none',
          { lines: [{ ...line, counted: -1 }] },
          'invalid_body',
          'lines.0.counted',
        ],
      ],
      (body) => merchant.put(`${URL}/${id}/lines`, body),
    )
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/post'],
      ['POST', '/cancel'],
    ] as const) {
      const answer = await merchant.send(method, `${URL}/${randomUUID()}${path}`)
      assert.equal(answer.body.error.code, 'count_not_found')
    }
    const stranger = await store.app.merchant('globex', 'manage:own_inventory')
    assert.equal((await stranger.get(`${URL}/${id}`)).body.error.code, 'count_not_found')
    const list = ok(await merchant.get(`${URL}?status=open`)).counts
    assert.ok(list.some((each: { id: string }) => each.id === id))
    assert.ok(list.every((each: { status: string }) => each.status === 'open'))
  })
})

describe('a discrepancy', () => {
  test('a discrepancy of any counter, packed units too, is found by the recount and listed', async () => {
    const variant = await tracked(5)
    await packed(variant, 2)
    const { superuser, app } = store
    await superuser.query(`update inventory_levels set packed = 3 where variant_id = $1`, [variant])
    const worker = app.database.open('fd_worker')
    const log: Record<string, unknown>[] = []
    await recountNow(worker, superuser, { error: (fields) => void log.push(fields) })
    assert.deepEqual(
      log.map(({ counter, kept, counted }) => [counter, kept, counted]),
      [['packed', 3, 2]],
    )
    const { discrepancies } = ok(await merchant.get('/v1/merchant/inventory/discrepancies'))
    assert.deepEqual(
      discrepancies.map((each: Record<string, unknown>) => [
        each.variant_id,
        each.location_id,
        each.counter,
        each.kept,
        each.counted,
      ]),
      [[variant, 'default', 'packed', 3, 2]],
    )
    await superuser.query(`update inventory_levels set packed = 2 where variant_id = $1`, [variant])
    const other = await app.merchant('globex', 'manage:own_inventory')
    const none = ok(await other.get('/v1/merchant/inventory/discrepancies'))
    assert.deepEqual(none.discrepancies, [])
  })
})
