import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import type { Fulfillment } from '../../../src/modules/orders/parcel-schema.ts'
import type { OrderItem } from '../../../src/modules/orders/schema.ts'
import { returnableOf, toPolicy } from '../../../src/modules/returns/policy.ts'

const NOW = Date.parse('2026-06-30T12:00:00Z')
const daysAgo = (days: number) => new Date(NOW - days * DAY_MS).toISOString()

const item = (over: Partial<OrderItem> = {}): OrderItem =>
  ({
    id: 'item',
    product_id: 'product',
    shipped_quantity: 3,
    returning_quantity: 0,
    returned_quantity: 0,
    ...over,
  }) as unknown as OrderItem

const parcel = (quantity: number, over: Partial<Fulfillment>): Fulfillment =>
  ({
    status: over.delivered_at ? 'delivered' : 'shipped',
    shipped_at: daysAgo(100),
    delivered_at: null,
    items: [{ order_item_id: 'item', quantity }],
    ...over,
  }) as unknown as Fulfillment

const terms = { windowDays: 30, finalSale: new Set<string>(), now: NOW }

describe('what a shopper can send back', () => {
  test('is counted from the delivery of each parcel, also if a later parcel is still in time', () => {
    const parcels = [
      parcel(2, { delivered_at: daysAgo(31) }),
      parcel(1, { delivered_at: daysAgo(29) }),
    ]
    const found = returnableOf(item(), parcels, terms)
    assert.deepEqual([found.quantity, found.reason, found.until], [1, null, daysAgo(-1)])
    const late = returnableOf(item(), parcels.slice(0, 1), terms)
    assert.deepEqual([late.quantity, late.reason, late.until], [0, 'window_closed', daysAgo(1)])
  })

  test('is counted from the shipment plus fourteen days, if no delivery is known', () => {
    const at = (days: number) =>
      returnableOf(item(), [parcel(3, { shipped_at: daysAgo(days) })], terms).quantity
    assert.deepEqual([at(43), at(44), at(45)], [3, 3, 0])
  })

  test('excludes parcels that are packed or came back', () => {
    const parcels = [
      parcel(1, { status: 'pending', shipped_at: null }),
      parcel(2, { status: 'cancelled', delivered_at: null, shipped_at: daysAgo(1) }),
    ]
    assert.equal(returnableOf(item(), parcels, terms).quantity, 0)
  })

  test('is never more than the units that have shipped and are in no return', () => {
    const parcels = [parcel(3, { delivered_at: daysAgo(1) })]
    const left = returnableOf(item({ returning_quantity: 1, returned_quantity: 1 }), parcels, terms)
    assert.equal(left.quantity, 1)
    const none = returnableOf(item({ returned_quantity: 3 }), parcels, terms)
    assert.equal(none.reason, 'nothing_left')
    assert.equal(returnableOf(item({ shipped_quantity: 0 }), [], terms).reason, 'not_shipped')
  })

  test('excludes products on final sale, and has no time limit without a window', () => {
    const parcels = [parcel(3, { shipped_at: daysAgo(900) })]
    const finalSale = new Set(['product'])
    assert.equal(returnableOf(item(), parcels, { ...terms, finalSale }).reason, 'final_sale')
    const free = returnableOf(item(), parcels, { ...terms, windowDays: null })
    assert.deepEqual([free.quantity, free.until], [3, null])
  })
})

describe('the policy of a manifest', () => {
  const of = (returns: unknown) => toPolicy({ behavior: { returns } })

  test('has the days and the collections that it names', () => {
    assert.deepEqual(of({ windowDays: 14, finalSaleCollections: ['sale', 'last'] }), {
      windowDays: 14,
      finalSaleCollections: ['sale', 'last'],
    })
    assert.equal(of({ windowDays: 0 }).windowDays, 0)
  })

  test('limits nothing if it is missing or malformed', () => {
    const none = { windowDays: null, finalSaleCollections: [] }
    for (const manifest of [null, 7, [], {}, { behavior: [] }, { behavior: { returns: null } }]) {
      assert.deepEqual(toPolicy(manifest), none)
    }
    for (const windowDays of [-1, 1.5, '30', Number.NaN, 4_000, {}]) {
      assert.equal(of({ windowDays }).windowDays, null)
    }
    assert.deepEqual(of({ finalSaleCollections: ['a', 1, null] }).finalSaleCollections, ['a'])
    assert.deepEqual(of({ finalSaleCollections: 'a' }).finalSaleCollections, [])
  })
})
