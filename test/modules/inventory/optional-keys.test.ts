import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import type { Answer, Caller } from '../../harness/app.ts'
import { times } from '../../harness/refusals.ts'
import { addVariant, enable, stock } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller

const tracked = async (on_hand: number) => {
  const variant = await addVariant(merchant, 1_000)
  await stock(merchant, variant, on_hand)
  return variant
}
const onHand = async (variant: string) =>
  (await merchant.get(`/v1/merchant/inventory/${variant}`)).body.item.on_hand as number
const keyed = () => ({ 'idempotency-key': randomUUID() })

/** Five equal requests at once, and one later: all have the same answer. */
async function assertOnce(send: () => Promise<Answer>, status = 200): Promise<Answer> {
  const answers = [...(await times(5, send)), await send()]
  for (const answer of answers) assert.equal(answer.status, status, answer.text)
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  assert.equal(answers.at(-1)?.headers['idempotent-replayed'], 'true')
  return answers[0] as Answer
}

/** Whether the published document requires the key of a route; null where it takes none. */
function requiresKey(path: string): boolean | null {
  const text = readFileSync(new URL('../../../generated/openapi.json', import.meta.url), 'utf8')
  const { parameters = [] } = JSON.parse(text).paths[path].post
  const key = parameters.find(({ name }: { name: string }) => name === 'Idempotency-Key')
  return key === undefined ? null : key.required === true
}

describe('a key that is optional', () => {
  before(async () => {
    store = shared.current
    merchant = store.shop.merchant
    await enable(merchant, 'bulk_fulfillment')
  })

  test('is described as optional, and a required key as required', () => {
    for (const path of [
      '/v1/merchant/inventory/{variant_id}/adjust',
      '/v1/merchant/inventory/adjust-bulk',
      '/v1/merchant/inventory/transfers',
      '/v1/merchant/inventory/counts/{id}/post',
      '/v1/merchant/fulfillments/{id}/ship',
      '/v1/merchant/fulfillments/bulk',
      '/v1/merchant/purchasing/orders/{id}/costs',
    ]) {
      assert.equal(requiresKey(path), false, path)
    }
    assert.equal(requiresKey('/v1/merchant/purchasing/orders/{id}/receive'), true)
    assert.equal(requiresKey('/v1/merchant/inventory/counts'), null)
  })

  test('makes an adjustment once', async () => {
    const variant = await tracked(1)
    const url = `/v1/merchant/inventory/${variant}/adjust`
    const headers = keyed()
    const body = { delta: 5, reason: 'came' }
    const answer = await assertOnce(() => merchant.post(url, body, headers))
    assert.deepEqual(Object.keys(answer.body.level).sort(), [
      'allocated',
      'available',
      'incoming',
      'location_id',
      'on_hand',
      'reserved',
    ])
    assert.equal(await onHand(variant), 6)
    const other = await merchant.post(url, { delta: 6, reason: 'came' }, headers)
    assert.equal(other.body.error.code, 'idempotency_key_reused')
    const again = await merchant.post(url, { delta: 5, reason: 'came' })
    assert.deepEqual([again.status, again.body.level.on_hand], [200, 11])
  })

  test('keeps the refusal of an adjustment, and is refused if it is malformed', async () => {
    const variant = await tracked(1)
    const url = `/v1/merchant/inventory/${variant}/adjust`
    const headers = keyed()
    const below = { delta: -2, reason: 'gone' }
    const first = await merchant.post(url, below, headers)
    assert.equal(first.body.error.code, 'stock_below_zero')
    assert.equal((await merchant.post(url, { delta: 5, reason: 'came' })).status, 200)
    const second = await merchant.post(url, below, headers)
    assert.equal(second.body.error.code, 'stock_below_zero', 'the key has its answer')
    const bad = await merchant.post(url, below, { 'idempotency-key': 'a key' })
    assert.equal(bad.body.error.code, 'idempotency_key_invalid')
  })

  test('makes many adjustments once, and replays the refused rows', async () => {
    const [a, b] = [await tracked(1), await tracked(1)]
    const headers = keyed()
    const body = {
      reason: 'came',
      adjustments: [
        { variant_id: b, delta: 2 },
        { variant_id: a, delta: 2 },
        { variant_id: a.toUpperCase(), delta: -9 },
        { variant_id: a, delta: 3 },
        { variant_id: randomUUID(), delta: 1 },
        { variant_id: b },
        { variant_id: b, delta: 1, location_id: 'nowhere' },
      ],
    }
    const answer = await assertOnce(() =>
      merchant.post('/v1/merchant/inventory/adjust-bulk', body, headers),
    )
    assert.deepEqual(
      answer.body.results.map((row: { level: { on_hand: number } | null; error: unknown }) =>
        row.level === null ? (row.error as { code: string }).code : row.level.on_hand,
      ),
      [3, 3, 'stock_below_zero', 6, 'variant_not_found', 'invalid_body', 'location_not_found'],
    )
    assert.deepEqual([await onHand(a), await onHand(b)], [6, 3])
  })

  test('never deadlocks when two callers adjust the same levels in different orders', async () => {
    const variants = await times(8, () => tracked(100))
    const adjust = (ids: readonly string[]) =>
      merchant.post('/v1/merchant/inventory/adjust-bulk', {
        reason: 'came',
        adjustments: ids.map((variant_id) => ({ variant_id, delta: 1 })),
      })
    const answers = await times(10, (n) => adjust(n % 2 === 0 ? variants : variants.toReversed()))
    for (const { status, text } of answers) assert.equal(status, 200, text)
    for (const variant of variants) assert.equal(await onHand(variant), 110)
  })

  test('ships a parcel once, also if the request is sent again', async () => {
    const variant = await tracked(5)
    const { order } = await store.place({ items: [{ variant_id: variant, quantity: 2 }] })
    const packed = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
    const url = `/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`
    const headers = keyed()
    const answer = await assertOnce(() => merchant.post(url, { tracking_number: '1Z' }, headers))
    assert.equal(answer.body.fulfillment.status, 'shipped')
    assert.equal(await onHand(variant), 3)
    const keyless = await merchant.post(url, { tracking_number: '1Z' })
    assert.equal(keyless.body.error.code, 'invalid_transition')
  })

  test('packs many orders once, and a retry answers with their parcels', async () => {
    const variant = await tracked(50)
    const placed = [1, 2, 3].map(() =>
      store.place({ items: [{ variant_id: variant, quantity: 2 }] }),
    )
    const ids = (await Promise.all(placed)).map(({ order }) => order.id as string)
    const headers = keyed()
    const orders = [
      ...ids.map((order_id) => ({ order_id, ship: true })),
      { order_id: randomUUID() },
      { order_id: ids[0] },
    ]
    const answer = await assertOnce(() =>
      merchant.post('/v1/merchant/fulfillments/bulk', { orders }, headers),
    )
    assert.deepEqual(
      answer.body.results.map(
        (row: { error?: { code: string }; fulfillment?: { status: string } }) =>
          row.error?.code ?? row.fulfillment?.status,
      ),
      ['shipped', 'shipped', 'shipped', 'order_not_found', 'invalid_transition'],
    )
    assert.equal(await onHand(variant), 44)
  })
})
