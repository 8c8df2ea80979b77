import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { LinePart, PurchaseLine, Split } from '../../../src/modules/purchasing/schema.ts'
import { canSplit, splitCost, stillOnHand } from '../../../src/modules/purchasing/split-cost.ts'

const lineOf = (n: number, line: Partial<PurchaseLine>): PurchaseLine => ({
  id: `line-${n}`,
  variant_id: `variant-${n}`,
  sku: `sku-${n}`,
  quantity: 1_000_000,
  received_quantity: 0,
  rejected_quantity: 0,
  open_quantity: 0,
  unit_cost_cents: 0,
  unit_weight_grams: null,
  ...line,
})

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

const lines = fc.array(
  fc.record({
    received_quantity: fc.nat(1_000_000),
    unit_cost_cents: fc.nat(100_000),
    unit_weight_grams: fc.option(fc.integer({ min: 1, max: 1_000_000 })),
    /** How many units of the variant are on hand, and how many came after the line's own. */
    units: fc.integer({ min: -10, max: 2_000_000 }),
    later: fc.nat(1_000_000),
  }),
  { minLength: 1, maxLength: 20 },
)

const split = fc.constantFrom<Split>('value', 'quantity', 'weight')

test('a late cost is split to the cent, over the lines and over units on hand and units sold', () => {
  fc.assert(
    fc.property(lines, split, fc.integer({ min: 1, max: 10 ** 11 }), (made, split_by, amount) => {
      const all = made.map(({ units: _, later: __, ...line }, n) => lineOf(n, line))
      fc.pre(canSplit(all, split_by))
      const known = new Map(
        made.map(({ units, later, received_quantity }, n) => [
          `variant-${n}`,
          { units, arrived: received_quantity + later },
        ]),
      )
      const parts = all
        .filter(({ received_quantity }) => received_quantity > 0)
        .map((line) => ({
          line_id: line.id,
          added: line.received_quantity,
          arrived_after: line.received_quantity,
        }))
      const shares = splitCost({ amount_cents: amount, split_by, lines: all, parts, known })
      assert.equal(sum(shares.map(({ amount_cents }) => amount_cents)), amount)
      for (const share of shares) {
        const line = all.find(({ id }) => id === share.line_id) as PurchaseLine
        assert.equal(share.on_hand_cents + share.sold_cents, share.amount_cents)
        assert.equal(share.on_hand_units + share.sold_units, line.received_quantity)
        assert.ok(share.on_hand_units === 0 ? share.on_hand_cents === 0 : share.on_hand_cents >= 0)
        assert.ok(share.sold_units === 0 ? share.sold_cents === 0 : share.sold_cents >= 0)
        const own = known.get(line.variant_id)
        assert.ok(own && share.on_hand_units <= Math.max(0, own.units))
      }
    }),
  )
})

test('the share of a line differs from its exact share by less than a cent', () => {
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 10 ** 9 }), (made, amount) => {
      const all = made.map(({ received_quantity }, n) => lineOf(n, { received_quantity }))
      fc.pre(canSplit(all, 'quantity'))
      const total = sum(all.map(({ received_quantity }) => received_quantity))
      const shares = splitCost({
        amount_cents: amount,
        split_by: 'quantity',
        lines: all,
        parts: [],
        known: new Map(),
      })
      for (const { line_id, amount_cents } of shares) {
        const line = all.find(({ id }) => id === line_id) as PurchaseLine
        const exact = (amount * line.received_quantity) / total
        assert.ok(Math.abs(amount_cents - exact) < 1 + 1e-6, `${amount_cents} of ${exact}`)
      }
    }),
  )
})

/** Units with names, of which the oldest leave first: what `stillOnHand` says without names. */
function countByName(steps: readonly { comes: number; isOwn: boolean; leaves: number }[]): {
  parts: LinePart[]
  units: number
  arrived: number
  own: number
} {
  const shelf: boolean[] = []
  const parts: LinePart[] = []
  let arrived = 0
  for (const { comes, isOwn, leaves } of steps) {
    for (let n = 0; n < comes; n++) shelf.push(isOwn)
    arrived += comes
    if (isOwn && comes > 0) parts.push({ line_id: 'line-0', added: comes, arrived_after: arrived })
    shelf.splice(0, leaves)
  }
  return { parts, units: shelf.length, arrived, own: shelf.filter(Boolean).length }
}

test('a line has as many units on hand as if the oldest receipt had left first', () => {
  const step = fc.record({ comes: fc.nat(6), isOwn: fc.boolean(), leaves: fc.nat(5) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { parts, units, arrived, own } = countByName(steps)
      assert.equal(stillOnHand(parts, { units, arrived }), own)
    }),
  )
})
