import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type Line,
  listOpen,
  planParcels,
  toWork,
} from '../../../src/modules/fulfillment/plan-parcels.ts'
import { trackingUrl } from '../../../src/modules/fulfillment/tracking-links.ts'

const line = (
  id: string,
  variant_id: string,
  quantity: number,
  done: Partial<Line> = {},
): Line => ({
  id,
  variant_id,
  sku: variant_id,
  product_name: variant_id,
  label: null,
  quantity,
  packed_quantity: 0,
  shipped_quantity: 0,
  restocked_quantity: 0,
  gift_card: false,
  ...done,
})
const units = (variant_id: string, location_id: string, open: number, ready = open) => ({
  order_id: 'order',
  variant_id,
  location_id,
  open,
  ready,
})

describe('the open units of an order', () => {
  test('are those neither packed nor shipped, at the locations where they are allocated', () => {
    const lines = [
      line('a', 'cup', 5, { packed_quantity: 1, shipped_quantity: 1 }),
      line('b', 'book', 2),
    ]
    const work = [units('cup', 'east', 1), units('cup', 'west', 2, 1)]
    assert.deepEqual(
      toWork(listOpen(lines, work)).map(({ location_id, items }) => [
        location_id,
        ...items.map(({ sku, quantity, ready }) => [sku, quantity, ready]),
      ]),
      [
        ['default', ['book', 2, 2]],
        ['east', ['cup', 1, 1]],
        ['west', ['cup', 2, 1]],
      ],
    )
  })

  test('two lines of one variant share what their order has allocated', () => {
    const lines = [line('a', 'cup', 2), line('b', 'cup', 3)]
    const open = listOpen(lines, [units('cup', 'east', 4, 3)])
    assert.deepEqual(
      open.map((each) => [each.line.id, each.location_id, each.quantity, each.ready, each.isStock]),
      [
        ['a', 'east', 2, 2, true],
        ['b', 'east', 2, 1, true],
        ['b', 'default', 1, 1, false],
      ],
    )
  })
})

describe('a plan of parcels', () => {
  test('makes one parcel if one location has all units', () => {
    const lines = [line('a', 'cup', 2), line('b', 'book', 1)]
    const open = listOpen(lines, [
      units('cup', 'east', 1),
      units('cup', 'west', 1),
      units('book', 'west', 1),
    ])
    const { parcels } = planParcels(open, new Map([['b', 1]]), null)
    assert.deepEqual(
      parcels.map(({ location_id }) => location_id),
      ['west'],
    )
    const all = planParcels(open, null, null).parcels
    assert.deepEqual(
      all.map(({ location_id, items }) => [location_id, items.map(({ quantity }) => quantity)]),
      [
        ['west', [1, 1]],
        ['east', [1]],
      ],
    )
  })

  test('says for each line how many units are open and how many are at the location', () => {
    const open = listOpen([line('a', 'cup', 5)], [units('cup', 'east', 5, 2)])
    assert.deepEqual(planParcels(open, new Map([['a', 3]]), null), {
      parcels: [],
      excess: [{ order_item_id: 'a', requested: 3, open: 5, ready: 2 }],
    })
    assert.equal(planParcels(open, new Map([['a', 1]]), 'west').excess.length, 1)
  })

  test('packs exactly what was asked for, and at no location more than is ready there', () => {
    const quantity = fc.integer({ min: 0, max: 6 })
    const anyWork = fc.array(
      fc.record({
        variant: fc.constantFrom('cup', 'book'),
        location: fc.constantFrom('default', 'east', 'west'),
        open: quantity,
        ready: quantity,
      }),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('cup', 'book', 'pen'), quantity), { maxLength: 4 }),
        anyWork,
        fc.array(quantity, { minLength: 4, maxLength: 4 }),
        (ordered, stocked, wishes) => {
          const lines = ordered.map(([variant, count], n) => line(`l${n}`, variant, count))
          const places = new Map(
            stocked.map((each) => [
              `${each.variant} ${each.location}`,
              units(each.variant, each.location, each.open, Math.min(each.open, each.ready)),
            ]),
          )
          const open = listOpen(lines, [...places.values()])
          const wanted = new Map(lines.map(({ id }, n) => [id, wishes[n] ?? 0]))
          const { parcels, excess } = planParcels(open, wanted, null)
          for (const { id, quantity: ordered } of lines) {
            const found = open.filter((each) => each.line.id === id)
            const sum = (of: 'quantity' | 'ready') => found.reduce((n, each) => n + each[of], 0)
            assert.equal(sum('quantity'), ordered, 'every open unit lies somewhere')
            const isExcess = excess.some(({ order_item_id }) => order_item_id === id)
            assert.equal(isExcess, (wanted.get(id) ?? 0) > sum('ready'))
          }
          if (excess.length > 0) return
          const packed = parcels.flatMap(({ location_id, items }) =>
            items.map((item) => ({ location_id, ...item })),
          )
          for (const [id, count] of wanted) {
            const units = packed.filter((each) => each.line.id === id)
            assert.equal(
              units.reduce((n, each) => n + each.quantity, 0),
              count,
            )
          }
          for (const { variant_id, location_id, ready } of places.values()) {
            const taken = packed.filter(
              (each) => each.line.variant_id === variant_id && each.location_id === location_id,
            )
            assert.ok(taken.reduce((n, each) => n + each.stock_quantity, 0) <= ready)
          }
        },
      ),
    )
  })
})

describe('a tracking link', () => {
  test('is made for a known carrier, however its name is spelt', () => {
    const ups = 'https://www.ups.com/track?tracknum=1Z999'
    for (const name of ['UPS', 'ups', 'U.P.S.']) assert.equal(trackingUrl(name, '1Z 999'), ups)
    assert.match(trackingUrl('Deutsche Post', '003404') ?? '', /dhl\.de.*piececode=003404$/)
    assert.equal(trackingUrl('The van of my brother', '1'), null)
    assert.equal(trackingUrl('UPS', null), null)
    assert.equal(trackingUrl(null, '1'), null)
  })

  test('encodes a hostile tracking number as part of a URL', () => {
    const url = new URL(trackingUrl('DPD', '../../x?y=<script>&$&') ?? '')
    assert.equal(url.host, 'tracking.dpd.de')
    assert.equal(url.search, '')
    assert.ok(!url.href.includes('<'))
  })
})
