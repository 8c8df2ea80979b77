import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { planRemaining } from '../../../src/modules/order-changes/plan-remaining.ts'
import { partsOfChange, totalOf } from '../../../src/modules/order-changes/refund-parts.ts'
import type { OrderItem, OrderRow } from '../../../src/modules/orders/schema.ts'

/** A line whose discount and tax are any parts of it, and of which some units have shipped. */
const line = fc
  .record({
    quantity: fc.integer({ min: 1, max: 12 }),
    unit_price_cents: fc.integer({ min: 0, max: 99_999 }),
    discount: fc.integer({ min: 0, max: 100 }),
    tax: fc.integer({ min: 0, max: 25 }),
    shipping_cents: fc.integer({ min: 0, max: 900 }),
    shipped: fc.integer({ min: 0, max: 12 }),
    refunded: fc.integer({ min: 0, max: 12 }),
    restocked: fc.integer({ min: 0, max: 12 }),
  })
  .map(({ quantity, unit_price_cents, discount, tax, shipping_cents, ...units }) => {
    const line_total_cents = quantity * unit_price_cents
    const discount_cents = Math.floor((line_total_cents * discount) / 100)
    const tax_cents = Math.floor(((line_total_cents - discount_cents) * tax) / 100)
    const shipped_quantity = Math.min(quantity, units.shipped)
    const refunded_quantity = Math.min(quantity, units.refunded)
    const restocked_quantity = Math.min(
      units.restocked,
      refunded_quantity,
      quantity - shipped_quantity,
    )
    return {
      id: '',
      quantity,
      unit_price_cents,
      line_total_cents,
      discount_cents,
      tax_cents,
      shipping_cents,
      shipped_quantity,
      refunded_quantity,
      restocked_quantity,
      returned_quantity: 0,
    } as unknown as OrderItem
  })

const sum = (items: readonly OrderItem[], name: keyof OrderItem) =>
  items.reduce((total, item) => total + Number(item[name]), 0)

function orderOf(items: readonly OrderItem[], prices_include_tax: boolean): OrderRow {
  const goods = sum(items, 'line_total_cents') - sum(items, 'discount_cents')
  const tax_cents = sum(items, 'tax_cents')
  const shipping_cents = sum(items, 'shipping_cents')
  return {
    subtotal_cents: sum(items, 'line_total_cents'),
    discount_cents: sum(items, 'discount_cents'),
    shipping_cents,
    tax_cents,
    total_cents: goods + shipping_cents + (prices_include_tax ? 0 : tax_cents),
    prices_include_tax,
    pricing: {},
  } as unknown as OrderRow
}

describe('what is left of an order whose rest is cancelled', () => {
  test('adds up to the cent, in every amount, and refunds no negative part', () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (drawn, isGross) => {
          const items = drawn.map((each, at) => ({ ...each, id: `line ${at}` }))
          const order = orderOf(items, isGross)
          const { lines, totals, delta_cents, withdrawn } = planRemaining(order, items)
          const after = items.map((item) => ({
            ...item,
            ...lines.find(({ id }) => id === item.id),
            restocked_quantity:
              item.restocked_quantity +
              (withdrawn.find((each) => each.order_item_id === item.id)?.restocked ?? 0),
          }))
          const { total_cents, ...rest } = orderOf(after, isGross)
          assert.deepEqual({ ...totals, prices_include_tax: isGross }, { ...rest, total_cents })
          assert.equal(order.total_cents + delta_cents, total_cents)
          const parts = partsOfChange(order, totals)
          assert.equal(totalOf(parts) + delta_cents, 0)
          for (const item of after) {
            assert.equal(
              item.quantity,
              item.shipped_quantity + item.restocked_quantity,
              'none open',
            )
            assert.ok(item.restocked_quantity <= item.refunded_quantity)
            for (const name of ['line_total_cents', 'discount_cents', 'tax_cents'] as const) {
              assert.ok(item[name] >= 0, name)
            }
            assert.equal(item.line_total_cents, item.quantity * item.unit_price_cents)
          }
          for (const part of Object.values(parts)) assert.ok(part >= 0, JSON.stringify(parts))
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
