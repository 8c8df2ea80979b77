import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sum } from '../../../src/kernel/money.ts'
import { totalOf } from '../../../src/modules/order-changes/refund-parts.ts'
import type { ChargeRow, OrderItem } from '../../../src/modules/orders/schema.ts'
import { planCredit, takeOf } from '../../../src/modules/returns/plan-exchange.ts'
import {
  expectedOf,
  type MoneyFacts,
  planReceipt,
} from '../../../src/modules/returns/plan-receipt.ts'
import type { ReturnLineRow } from '../../../src/modules/returns/schema.ts'

interface Drawn {
  lines: { quantity: number; price: number; tax: number }[]
  steps: Step[]
}

type Step =
  | { kind: 'exchange'; total: number; advance: boolean }
  | { kind: 'release' }
  | { kind: 'receive'; line: number; units: number; method: Method; fee: number }
  | { kind: 'settle'; method: Method }
type Method = 'original' | 'store_credit' | 'none' | 'later'

const methods = fc.constantFrom<Method>('original', 'store_credit', 'none', 'later')

const drawn: fc.Arbitrary<Drawn> = fc.record({
  lines: fc.array(
    fc.record({
      quantity: fc.integer({ min: 1, max: 3 }),
      price: fc.constantFrom(0, 1, 333, 1_000),
      tax: fc.constantFrom(0, 1, 77),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  steps: fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('exchange' as const),
        total: fc.constantFrom(0, 1, 333, 900, 5_000),
        advance: fc.boolean(),
      }),
      fc.record({ kind: fc.constant('release' as const) }),
      fc.record({
        kind: fc.constant('receive' as const),
        line: fc.nat(2),
        units: fc.integer({ min: 1, max: 3 }),
        method: methods,
        fee: fc.constantFrom(0, 0, 10),
      }),
      fc.record({ kind: fc.constant('settle' as const), method: methods }),
    ),
    { minLength: 1, maxLength: 10 },
  ),
})

const itemOf = ({ quantity, price, tax }: Drawn['lines'][number], at: number): OrderItem =>
  ({
    id: `item-${at}`,
    variant_id: `variant-${at}`,
    quantity,
    unit_price_cents: price,
    line_total_cents: price * quantity,
    discount_cents: 0,
    tax_cents: tax,
    shipping_cents: 0,
    refunded_quantity: 0,
    shipped_quantity: quantity,
    restocked_quantity: 0,
  }) as unknown as OrderItem

const lineOf = (item: OrderItem): ReturnLineRow => ({
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

/** A return of a whole order, as the rows of the database would show it. */
class Model {
  known: MoneyFacts
  readonly worth: number
  refunded = 0
  exchanges: { amount: number; fromWaived: number }[] = []
  waived = 0
  deducted = 0
  fees = 0

  constructor({ lines }: Drawn) {
    const items = lines.map(itemOf)
    this.worth = sum(items.map(({ line_total_cents, tax_cents }) => line_total_cents + tax_cents))
    const charge = { charge_id: 'card', tender: 'card', captured_cents: this.worth } as ChargeRow
    this.known = {
      order: { prices_include_tax: false },
      returned: {
        id: 'return',
        status: 'approved',
        lines: items.map(lineOf),
      } as unknown as MoneyFacts['returned'],
      items,
      refundable: {
        charges: [{ ...charge, refunded_cents: 0, moved_from: null }],
        left: {
          product_cents: sum(items.map(({ line_total_cents }) => line_total_cents)),
          tax_cents: sum(items.map(({ tax_cents }) => tax_cents)),
          shipping_cents: 0,
          gift_card_cents: 0,
          pending: 0,
          shipping_tax_cents: 0,
        },
      },
      refundedUnits: [],
      settled: [],
      tracked: new Set(),
      given_cents: 0,
      waived_cents: 0,
    }
  }

  taken = () => sum(this.exchanges.map(({ amount }) => amount))

  /** Takes or returns money of the order. */
  move(parts: { product_cents: number; tax_cents: number }, sign: 1 | -1) {
    const { left, charges } = this.known.refundable
    left.product_cents -= sign * parts.product_cents
    left.tax_cents -= sign * parts.tax_cents
    const [charge] = charges as [ChargeRow]
    charge.refunded_cents += sign * (parts.product_cents + parts.tax_cents)
  }

  refresh() {
    const fromWaived = sum(this.exchanges.map((each) => each.fromWaived))
    this.known.given_cents = this.taken() - fromWaived - this.deducted
    this.known.waived_cents = Math.max(0, this.waived - fromWaived)
    this.known.settled = this.known.returned.lines.map((line) => ({
      order_item_id: line.order_item_id,
      refunded: line.refunded_quantity,
      already_refunded: line.already_refunded_quantity,
      waived: line.waived_quantity,
    }))
  }
}

const parts = new Map<Model, { product_cents: number; tax_cents: number }[]>()

function apply(model: Model, step: Step): void {
  const { known } = model
  const moved = parts.get(model) ?? []
  parts.set(model, moved)
  if (step.kind === 'exchange') {
    const credit = planCredit(known, step.advance)
    const taken = takeOf(credit, step.total)
    assert.ok(taken.amount_cents >= 0 && taken.amount_cents <= step.total)
    assert.equal(totalOf(taken.parts), taken.amount_cents)
    model.move(taken.parts, 1)
    moved.push(taken.parts)
    model.exchanges.push({ amount: taken.amount_cents, fromWaived: taken.from_waived_cents })
    model.refresh()
    assert.equal(
      planCredit(known, step.advance).available_cents,
      credit.available_cents - taken.amount_cents,
      'what is left is what was not taken',
    )
  } else if (step.kind === 'release') {
    model.exchanges.pop()
    const back = moved.pop()
    if (back !== undefined) model.move(back, -1)
  } else {
    receive(model, step)
  }
  model.refresh()
}

function receive(model: Model, step: Extract<Step, { kind: 'receive' | 'settle' }>): void {
  const { known } = model
  const line =
    step.kind === 'receive'
      ? known.returned.lines[step.line % known.returned.lines.length]
      : undefined
  const units =
    line === undefined ? 0 : Math.min(expectedOf(line), (step as { units: number }).units)
  if (step.kind === 'receive' && units === 0) return
  const body = {
    lines:
      line === undefined
        ? []
        : [{ return_line_id: line.id, received_quantity: units, disposition: 'damaged' as const }],
    refund: {
      method: step.method,
      ...(step.kind === 'receive' &&
        (step.method === 'original' || step.method === 'store_credit') && {
          restocking_fee_cents: step.fee,
        }),
    },
  }
  let plan: ReturnType<typeof planReceipt>
  try {
    plan = planReceipt(known, body)
  } catch {
    // A fee above the worth, or nothing to settle.
    return
  }
  for (const { after, refunded_quantity } of plan.lines) {
    known.returned.lines = known.returned.lines.map((each) => (each.id === after.id ? after : each))
    const item = known.items.find(({ id }) => id === after.order_item_id) as OrderItem
    item.refunded_quantity += refunded_quantity
  }
  model.move(plan.parts, 1)
  model.refunded += plan.amount_cents
  model.deducted += plan.deducted_cents
  model.waived += plan.waived_cents
  model.fees += plan.restocking_fee_cents
  assert.equal(
    sum(plan.tenders.map(({ amount_cents }) => amount_cents)),
    plan.amount_cents,
    'the tenders pay the amount',
  )
}

describe('exchanges and receipts of a return', () => {
  test('never give more than the goods are worth, in whatever order they come', () => {
    let isTaken = 0
    let isBoth = 0
    fc.assert(
      fc.property(drawn, (given) => {
        const model = new Model(given)
        for (const step of given.steps) {
          apply(model, step)
          const [charge] = model.known.refundable.charges as [ChargeRow]
          assert.equal(charge.refunded_cents, model.refunded + model.taken())
          assert.ok(model.refunded + model.taken() <= model.worth)
          assert.ok(model.known.refundable.left.product_cents >= 0)
          assert.ok(model.known.refundable.left.tax_cents >= 0)
        }
        if (model.taken() > 0) isTaken += 1
        if (model.taken() > 0 && model.refunded > 0) isBoth += 1
      }),
      { numRuns: 2_000 },
    )
    assert.ok(isTaken > 100 && isBoth > 50, 'both were tried')
  })

  test('pay once for every returned unit, whether by exchange or refund, to the cent', () => {
    let tried = 0
    fc.assert(
      fc.property(drawn, (given) => {
        const model = new Model(given)
        const fair = given.steps.filter(
          (step) =>
            step.kind === 'exchange' ||
            step.kind === 'release' ||
            (step.method !== 'none' && (step.kind === 'settle' || step.fee === 0)),
        )
        for (const step of fair) apply(model, step)
        // Everything else comes, and whatever is open is settled.
        for (const at of given.lines.keys()) {
          apply(model, { kind: 'receive', line: at, units: 3, method: 'original', fee: 0 })
        }
        apply(model, { kind: 'settle', method: 'original' })
        assert.equal(model.refunded + model.taken(), model.worth)
        tried += 1
      }),
      { numRuns: 1_000 },
    )
    assert.equal(tried, 1_000)
  })

  test('take waived money first, and leave the remaining value of the return to its receipts', () => {
    const model = new Model({ lines: [{ quantity: 2, price: 1_000, tax: 0 }], steps: [] })
    apply(model, { kind: 'receive', line: 0, units: 1, method: 'none', fee: 0 })
    apply(model, { kind: 'exchange', total: 1_000, advance: true })
    assert.deepEqual(model.exchanges, [{ amount: 1_000, fromWaived: 1_000 }])
    apply(model, { kind: 'receive', line: 0, units: 1, method: 'original', fee: 0 })
    assert.equal(model.refunded, 1_000)
  })
})
