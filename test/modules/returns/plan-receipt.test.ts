import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../../src/errors.ts'
import { sum } from '../../../src/kernel/money.ts'
import { DISPOSITIONS } from '../../../src/modules/orders/return-schema.ts'
import type { ChargeRow, OrderItem } from '../../../src/modules/orders/schema.ts'
import { refundableOf } from '../../../src/modules/orders/service.ts'
import {
  type MoneyFacts,
  planReceipt,
  receivedOf,
  unsettledOf,
} from '../../../src/modules/returns/plan-receipt.ts'
import type { Receipt, ReturnLineRow } from '../../../src/modules/returns/schema.ts'

/** A line of an order, all units shipped, with amounts that do not divide evenly. */
const lineOf = (
  at: number,
  { quantity, price, discount, tax, refunded }: Record<string, number>,
): OrderItem =>
  ({
    id: `item-${at}`,
    product_id: `product-${at}`,
    variant_id: `variant-${at}`,
    quantity,
    unit_price_cents: price,
    line_total_cents: (price ?? 0) * (quantity ?? 0),
    discount_cents: Math.min(discount ?? 0, (price ?? 0) * (quantity ?? 0)),
    tax_cents: tax,
    shipping_cents: 0,
    refunded_quantity: Math.min(refunded ?? 0, quantity ?? 0),
    shipped_quantity: quantity,
    restocked_quantity: 0,
  }) as unknown as OrderItem

const returnLine = (item: OrderItem): ReturnLineRow => ({
  id: `line-${item.id}`,
  order_item_id: item.id,
  variant_id: item.variant_id,
  sku: 'x',
  product_name: 'x',
  label: null,
  reason: null,
  quantity: item.quantity,
  restocked_quantity: 0,
  damaged_quantity: 0,
  quarantined_quantity: 0,
  missing_quantity: 0,
  quarantine_location_id: null,
  refunded_quantity: 0,
  already_refunded_quantity: 0,
  waived_quantity: 0,
  refund_cents: 0,
})

const charge = (tender: ChargeRow['tender'], captured_cents: number): ChargeRow =>
  ({
    charge_id: randomUUID(),
    tender,
    captured_cents,
    refunded_cents: 0,
  }) as unknown as ChargeRow

const orders = fc
  .record({
    lines: fc.array(
      fc.record({
        quantity: fc.integer({ min: 1, max: 5 }),
        price: fc.constantFrom(0, 1, 333, 1_000, 99_999),
        discount: fc.constantFrom(0, 0, 7, 500),
        tax: fc.constantFrom(0, 1, 77, 1_234),
        refunded: fc.constantFrom(0, 0, 0, 1, 5),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    shipping: fc.constantFrom(0, 499),
    byOthers: fc.constantFrom(0, 0, 150, 1_000),
    isTracked: fc.boolean(),
  })
  .map(({ lines, shipping, byOthers, isTracked }): MoneyFacts => {
    const items = lines.map((line, at) => lineOf(at, line))
    const product = sum(items.map((item) => item.line_total_cents - item.discount_cents))
    const tax = sum(items.map((item) => item.tax_cents))
    // The earlier refunds of units, by whole lines: exact enough for the amounts that are left.
    const refundedUnits = items
      .filter(({ refunded_quantity }) => refunded_quantity > 0)
      .map((item) => ({
        order_item_id: item.id,
        quantity: item.refunded_quantity,
        amount_cents: Math.floor((lineWorth(item) * item.refunded_quantity) / item.quantity),
      }))
    const total = product + tax + shipping
    const gone = sum(refundedUnits.map(({ amount_cents }) => amount_cents))
    const credit = Math.min(byOthers, total)
    const charges = [charge('store_credit', credit), charge('card', total - credit)]
    const card = charges[1] as ChargeRow
    card.refunded_cents = Math.min(gone, card.captured_cents)
    ;(charges[0] as ChargeRow).refunded_cents = gone - card.refunded_cents
    const goneProduct = Math.min(product, gone)
    return {
      order: { prices_include_tax: false },
      returned: { id: 'return', lines: items.map(returnLine) } as unknown as MoneyFacts['returned'],
      items,
      refundable: {
        charges,
        left: {
          product_cents: product - goneProduct,
          tax_cents: tax - (gone - goneProduct),
          shipping_cents: shipping,
          gift_card_cents: 0,
          pending: 0,
          shipping_tax_cents: 0,
        },
      },
      refundedUnits,
      settled: [],
      tracked: new Set(isTracked ? items.map(({ variant_id }) => variant_id) : []),
      given_cents: 0,
      waived_cents: 0,
    }
  })

const lineWorth = (item: OrderItem): number =>
  item.line_total_cents - item.discount_cents + item.tax_cents

const unitWorth = ({ line_total_cents, discount_cents, tax_cents, quantity }: OrderItem): number =>
  Math.floor((line_total_cents - discount_cents) / quantity) + Math.floor(tax_cents / quantity)

const requests = fc.record({
  units: fc.array(
    fc.record({
      line: fc.nat(3),
      quantity: fc.integer({ min: 1, max: 3 }),
      disposition: fc.constantFrom(...DISPOSITIONS),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  method: fc.constantFrom('original' as const, 'store_credit' as const, 'none' as const),
  fee: fc.constantFrom(0, 0, 1, 100, 1_000),
  shipping: fc.constantFrom(0, 0, 1, 499, 500),
})

type Asked = typeof requests extends fc.Arbitrary<infer R> ? R : never

const toReceipt = ({ returned }: MoneyFacts, { units, method, fee, shipping }: Asked): Receipt => ({
  lines: units.map(({ line, quantity, disposition }) => ({
    return_line_id: returned.lines[line % returned.lines.length]?.id ?? '',
    received_quantity: quantity,
    disposition,
  })),
  refund: { method, restocking_fee_cents: fee, refund_shipping_cents: shipping },
})

/** The plan, or null where it is refused for a reason that a caller can know. */
function tryPlan(known: MoneyFacts, request: Receipt) {
  try {
    return planReceipt(known, request)
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    return null
  }
}

/** The order and the return once a plan has been carried out. */
function carryOut(known: MoneyFacts, plan: NonNullable<ReturnType<typeof tryPlan>>): MoneyFacts {
  const lines = known.returned.lines.map(
    (line) => plan.lines.find(({ after }) => after.id === line.id)?.after ?? line,
  )
  const { charges, left } = known.refundable
  const shareOf = (charge_id: string) =>
    sum(plan.tenders.filter((t) => t.charge_id === charge_id).map((t) => t.amount_cents))
  return {
    ...known,
    returned: { ...known.returned, lines },
    items: known.items.map((item) => {
      const planned = plan.lines.find(({ after }) => after.order_item_id === item.id)
      const refunded_quantity = item.refunded_quantity + (planned?.refunded_quantity ?? 0)
      return { ...item, refunded_quantity }
    }),
    refundedUnits: known.items.map((item) => {
      const before = known.refundedUnits.find(({ order_item_id }) => order_item_id === item.id)
      const planned = plan.lines.find(({ after }) => after.order_item_id === item.id)
      return {
        order_item_id: item.id,
        quantity: (before?.quantity ?? 0) + (planned?.refunded_quantity ?? 0),
        amount_cents:
          (before?.amount_cents ?? 0) +
          (planned && planned.refunded_quantity > 0 ? planned.amount_cents : 0),
      }
    }),
    settled: lines.map((line) => ({
      order_item_id: line.order_item_id,
      refunded: line.refunded_quantity,
      already_refunded: line.already_refunded_quantity,
      waived: line.waived_quantity,
    })),
    refundable: {
      charges: charges.map((each) => ({
        ...each,
        refunded_cents: each.refunded_cents + shareOf(each.charge_id),
      })),
      left: {
        product_cents: left.product_cents - plan.parts.product_cents,
        tax_cents: left.tax_cents - plan.parts.tax_cents,
        shipping_cents: left.shipping_cents - plan.parts.shipping_cents,
        gift_card_cents: left.gift_card_cents - plan.parts.gift_card_cents,
        pending: 0,
        shipping_tax_cents: 0,
      },
    },
  }
}

describe('the plan of a receipt', () => {
  test('never refunds more than was captured, and its cents add up, whatever units come in whatever order', () => {
    let refunded = 0
    fc.assert(
      fc.property(orders, fc.array(requests, { minLength: 1, maxLength: 5 }), (order, asked) => {
        let known = order
        for (const each of asked) {
          const plan = tryPlan(known, toReceipt(known, each))
          if (plan === null) continue
          const { parts, amount_cents, tenders, lines } = plan
          const refundable = refundableOf(known.refundable.charges)
          assert.ok(amount_cents >= 0 && amount_cents <= refundable)
          assert.equal(parts.product_cents + parts.tax_cents + parts.shipping_cents, amount_cents)
          for (const part of Object.values(parts)) assert.ok(part >= 0)
          assert.equal(sum(tenders.map((tender) => tender.amount_cents)), amount_cents)
          assert.equal(
            sum(lines.map((line) => line.refund_cents)) + plan.refund_shipping_cents,
            amount_cents,
          )
          for (const { after, refunded_quantity, received_quantity } of lines) {
            assert.ok(refunded_quantity <= received_quantity)
            assert.equal(unsettledOf(after), 0, 'the money of each unit that came is decided')
            assert.ok(receivedOf(after) + after.missing_quantity <= after.quantity)
          }
          if (amount_cents > 0) refunded += 1
          known = carryOut(known, plan)
          for (const item of known.items) assert.ok(item.refunded_quantity <= item.quantity)
          for (const { captured_cents, refunded_cents } of known.refundable.charges) {
            assert.ok(refunded_cents <= captured_cents)
          }
        }
      }),
      { numRuns: 2_000 },
    )
    assert.ok(refunded > 200, `only ${refunded} plans had money`)
  })

  test('refunds the whole order, to the cent, once every unit has come back one by one', () => {
    fc.assert(
      fc.property(orders, (order) => {
        // A unit that is worth less than a cent is refunded with the others of its line alone.
        fc.pre(order.items.every((item) => unitWorth(item) > 0 || lineWorth(item) === 0))
        let known = order
        for (const line of order.returned.lines) {
          for (let unit = 0; unit < line.quantity; unit++) {
            const plan = planReceipt(known, {
              lines: [{ return_line_id: line.id, received_quantity: 1, disposition: 'damaged' }],
              refund: { method: 'original' },
            })
            known = carryOut(known, plan)
          }
        }
        const { shipping_cents } = known.refundable.left
        assert.equal(refundableOf(known.refundable.charges), shipping_cents)
      }),
      { numRuns: 500 },
    )
  })

  test('puts only units to be restocked on hand, of tracked variants', () => {
    fc.assert(
      fc.property(orders, requests, (known, asked) => {
        const request = toReceipt(known, asked)
        const plan = tryPlan(known, request)
        if (plan === null) return
        const wanted = request.lines.filter(({ disposition }) => disposition === 'restock')
        const units = sum(wanted.map(({ received_quantity }) => received_quantity))
        const isTracked = known.tracked.size > 0
        assert.equal(sum(plan.stock.map(({ quantity }) => quantity)), isTracked ? units : 0)
      }),
      { numRuns: 500 },
    )
  })

  test('deducts what a gateway has refunded for a receipt that failed', () => {
    const item = lineOf(0, { quantity: 3, price: 1_000, discount: 0, tax: 0, refunded: 0 })
    const line = { ...returnLine(item), damaged_quantity: 3 }
    const known: MoneyFacts = {
      order: { prices_include_tax: false },
      returned: { id: 'return', lines: [line] } as unknown as MoneyFacts['returned'],
      items: [item],
      refundable: {
        charges: [{ ...charge('card', 3_000), refunded_cents: 1_000 }],
        left: {
          product_cents: 2_000,
          tax_cents: 0,
          shipping_cents: 0,
          gift_card_cents: 0,
          pending: 0,
          shipping_tax_cents: 0,
        },
      },
      refundedUnits: [],
      settled: [],
      tracked: new Set(),
      given_cents: 400,
      waived_cents: 0,
    }
    const plan = planReceipt(known, { lines: [], refund: { method: 'original' } })
    // 400 were paid before, and 2,000 are left of the goods.
    assert.deepEqual([plan.deducted_cents, plan.amount_cents], [400, 2_000])
    assert.equal(plan.lines[0]?.refund_cents, 2_400)
  })
})
