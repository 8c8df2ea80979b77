import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Caller } from '../../harness/app.ts'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { addVariant, cart, checkout, stock } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller
const EAST = 'east'
const URL = '/v1/merchant/inventory/transfers'

const tracked = async (on_hand: number) => {
  const variant = await addVariant(merchant, 1_000)
  await stock(merchant, variant, on_hand)
  return variant
}
const send = (variant_id: string, quantity: number, more: object = {}, headers = {}) =>
  merchant.post(
    URL,
    {
      variant_id,
      from_location_id: 'default',
      to_location_id: EAST,
      quantity,
      reason: 'nearer',
      ...more,
    },
    headers,
  )
const levelsOf = async (variant: string) => {
  const { item } = (await merchant.get(`/v1/merchant/inventory/${variant}`)).body
  return Object.fromEntries(
    item.levels.map((level: { location_id: string; on_hand: number }) => [
      level.location_id,
      level.on_hand,
    ]),
  )
}

/** The movements of a variant, read in pages of so many. */
async function listMovements(variant: string, limit: number) {
  const read: { location_id: string; quantity: number }[] = []
  for (let after = ''; ; ) {
    const query = `variant_id=${variant}&limit=${limit}${after && `&after=${after}`}`
    const { body } = await merchant.get(`/v1/merchant/inventory/movements?${query}`)
    read.push(...body.movements)
    if (body.next_after === undefined) return { read, total: body.total as number }
    after = encodeURIComponent(body.next_after)
  }
}

describe('a transfer', () => {
  before(async () => {
    store = shared.current
    merchant = store.shop.merchant
    const made = await merchant.post('/v1/merchant/inventory/locations', { id: EAST, name: 'East' })
    assert.equal(made.status, 201, made.text)
  })

  test('leaves movements that are listed over both locations, newest first', async () => {
    const variant = await tracked(9)
    for (const quantity of [1, 2, 3]) await send(variant, quantity)
    const whole = await listMovements(variant, 100)
    const shown = whole.read.map(({ location_id, quantity }) => `${location_id} ${quantity}`)
    const pairs = [shown.slice(0, 2), shown.slice(2, 4), shown.slice(4, 6), shown.slice(6)]
    assert.deepEqual(
      pairs.map((each) => each.toSorted()),
      [['default -3', 'east 3'], ['default -2', 'east 2'], ['default -1', 'east 1'], ['default 9']],
    )
    assert.deepEqual(await listMovements(variant, 2), whole)
    assert.deepEqual(await listMovements(randomUUID(), 2), { read: [], total: 0 })
  })

  test('moves units between two locations by two movements of one cause', async () => {
    const variant = await tracked(5)
    const { status, body, text } = await send(variant.toUpperCase(), 3)
    assert.equal(status, 201, text)
    const { transfer } = body
    assert.deepEqual(
      [transfer.variant_id, transfer.quantity, transfer.from.on_hand, transfer.to.on_hand],
      [variant, 3, 2, 3],
    )
    const { movements } = (
      await merchant.get(`/v1/merchant/inventory/movements?variant_id=${variant}&kind=transferred`)
    ).body
    assert.deepEqual(
      movements
        .map((each: Record<string, unknown>) => [
          each.location_id,
          each.quantity,
          each.on_hand_after,
          each.transfer_id,
          each.reason,
        ])
        .toSorted(),
      [
        ['default', -3, 2, transfer.id, 'nearer'],
        [EAST, 3, 3, transfer.id, 'nearer'],
      ],
    )
    const audit = await store.app.operator.get('/v1/audit?action=inventory.transferred')
    assert.equal(audit.body.entries[0].after.transfer_id, transfer.id)
    assert.doesNotMatch(audit.text, /nearer/)
  })

  test('leaves the units that orders have reserved where they are', async () => {
    const variant = await tracked(5)
    await store.place({ items: [{ variant_id: variant, quantity: 3 }] })
    const refused = await send(variant, 3)
    assert.equal(refused.status, 409)
    assert.equal(refused.body.error.code, 'insufficient_stock')
    assert.deepEqual(refused.body.items, [{ variant_id: variant, available: 2 }])
    assert.equal((await send(variant, 2)).status, 201)
    assert.deepEqual(await levelsOf(variant), { default: 3, [EAST]: 2 })
  })

  test('is refused for variants and locations that the store does not have, and onto the same location', async () => {
    const variant_id = await tracked(1)
    const good = {
      variant_id,
      from_location_id: 'default',
      to_location_id: EAST,
      quantity: 1,
      reason: 'r',
    }
    await assertRefused(
      [
        ['no variant', { ...good, variant_id: randomUUID() }, 'variant_not_found'],
        ['no source', { ...good, from_location_id: 'nowhere' }, 'location_not_found'],
        ['no target', { ...good, to_location_id: 'No Where' }, 'location_not_found'],
        ['itself', { ...good, to_location_id: 'default' }, 'invalid_body', 'to_location_id'],
        ['nothing', { ...good, quantity: 0 }, 'invalid_body', 'quantity'],
        ['no reason', { ...good, reason: '' }, 'invalid_body', 'reason'],
      ],
      (body) => merchant.post(URL, body),
    )
    const other = await store.app.merchant('globex', 'manage:own_inventory')
    assert.equal((await other.post(URL, good)).body.error.code, 'variant_not_found')
    const lesser = await store.app.merchant('acme', 'manage:own_fulfillment')
    assert.equal((await lesser.post(URL, good)).status, 403)
  })

  test('a transfer and a checkout of the last unit at once: one of them gets it', async () => {
    for (let round = 0; round < 10; round++) {
      const variant = await tracked(1)
      const [moved, bought] = await Promise.all([
        send(variant, 1),
        checkout(store.app, store.shop, cart(variant)),
      ])
      assert.equal(bought.status, 201, 'it can be sold from either location')
      const { rows } = await store.superuser.query(
        `select l.location_id, l.on_hand::int, l.allocated::int from inventory_levels l
          where l.variant_id = $1 and (l.on_hand <> 0 or l.allocated <> 0)`,
        [variant],
      )
      const where = moved.status === 201 ? EAST : 'default'
      assert.deepEqual(rows, [{ location_id: where, on_hand: 1, allocated: 1 }])
    }
  })

  test('a transfer there and back at once never deadlocks, and never creates a unit', async () => {
    const variant = await tracked(10)
    assert.equal((await send(variant, 5)).status, 201)
    const back = { from_location_id: EAST, to_location_id: 'default' }
    const answers = await times(20, (n) => send(variant, 1, n % 2 === 0 ? {} : back))
    assert.deepEqual(Object.keys(countStatuses(answers)), ['201'])
    assert.deepEqual(await levelsOf(variant), { default: 5, [EAST]: 5 })
  })

  test('is made once for a key, and each time without a key', async () => {
    const variant = await tracked(10)
    const key = { 'idempotency-key': randomUUID() }
    const answers = await times(5, () => send(variant, 2, {}, key))
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.deepEqual(countStatuses(answers), { 201: 5 })
    const replay = await send(variant, 2, {}, key)
    assert.equal(replay.headers['idempotent-replayed'], 'true')
    assert.equal((await send(variant, 3, {}, key)).body.error.code, 'idempotency_key_reused')
    assert.deepEqual(await levelsOf(variant), { default: 8, [EAST]: 2 })
    for (const _ of [1, 2]) assert.equal((await send(variant, 2)).status, 201)
    assert.deepEqual(await levelsOf(variant), { default: 4, [EAST]: 6 })
  })
})
