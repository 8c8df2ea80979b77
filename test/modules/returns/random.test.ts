import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DISPOSITIONS } from '../../../src/modules/orders/return-schema.ts'
import { ALL_OPTIONS } from '../checkout/setup.ts'
import { giveBalances, shareOrderStore } from '../orders/setup.ts'
import { ok, returnsOf } from './setup.ts'

const shared = shareOrderStore()

/** A short run of whole orders over HTTP. `plan-receipt.test.ts` has the long one, of the plan alone. */
const RUNS = 10

const receipts = fc.record({
  units: fc.array(
    fc.record({
      line: fc.nat(1),
      quantity: fc.integer({ min: 1, max: 3 }),
      disposition: fc.constantFrom(...DISPOSITIONS),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  method: fc.constantFrom('original', 'original', 'store_credit', 'none'),
  fee: fc.constantFrom(0, 0, 1, 137, 5_000),
  shipping: fc.constantFrom(0, 0, 1, 250, 499),
})

const scenarios = fc.record({
  quantities: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 })),
  credit: fc.constantFrom(0, 150),
  gift: fc.constantFrom(0, 700),
  isTaxInside: fc.boolean(),
  refundBefore: fc.constantFrom(null, null, { amount_cents: 777 }, 'a unit' as const),
  receipts: fc.array(receipts, { minLength: 1, maxLength: 3 }),
})

const REFUSALS = [
  'quantity_exceeds_expected',
  'fee_exceeds_refund',
  'amount_exceeds_refundable',
  'invalid_body',
  'invalid_transition',
]

test('a receipt does exactly what its preview says, for any lines, fees and tenders, and the cents add up', async () => {
  const store = shared.current
  const returns = returnsOf(store)
  const { merchant, variants } = store.shop
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { quantities, credit, gift, isTaxInside, refundBefore } = scenario
      const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax: isTaxInside } }
      ok(await merchant.put('/v1/my/store/manifest', { manifest }))
      const card = credit + gift > 0 ? await giveBalances(store, credit, Math.max(1, gift)) : null
      const counted = await returns.tracked(quantities[1], 333)
      const order = await returns.shipped({
        items: [
          { variant_id: variants[1_000], quantity: quantities[0] },
          { variant_id: counted, quantity: quantities[1] },
        ],
        shipping: {
          mode: 'flat',
          flat_rate_cents: 499,
          expedited_rate_cents: 900,
          max_cents: 900,
        },
        tax: { provider: 'flat_rate', rate_bps: 777 },
        apply_store_credit: credit > 0,
        ...(card !== null && gift > 0 && { gift_card_code: card.code }),
      })
      const { id } = order.order
      if (refundBefore !== null) {
        const unit = { items: [{ order_item_id: order.items[0]?.id, quantity: 1 }] }
        const body = refundBefore === 'a unit' ? unit : refundBefore
        ok(await store.merchant(id, 'refunds', body), 201)
      }
      const lines = order.items.map(({ id: order_item_id }, at) => ({
        order_item_id,
        quantity: quantities[at],
      }))
      const made = ok(await returns.create(id, lines), 201).return
      for (const each of scenario.receipts) {
        const body = {
          lines: each.units.map(({ line, quantity, disposition }) => ({
            return_line_id: made.lines[line].id,
            received_quantity: quantity,
            disposition,
          })),
          refund: {
            method: each.method,
            ...(each.fee > 0 && { restocking_fee_cents: each.fee }),
            ...(each.shipping > 0 && { refund_shipping_cents: each.shipping }),
          },
        }
        const before = await store.read(id)
        const [seen, got] = [
          await returns.preview(made.id, body),
          await returns.receive(made.id, body),
        ]
        assert.equal(seen.status, got.status, `${seen.text} ${got.text}`)
        if (got.status !== 200) {
          assert.deepEqual(got.body.error.code, seen.body.error.code)
          assert.ok(REFUSALS.includes(got.body.error.code), got.text)
          continue
        }
        assertSame(seen.body, got.body)
        const after = await store.read(id)
        const paid = got.body.refund?.amount_cents ?? 0
        assert.equal(after.order.refunded_cents - before.order.refunded_cents, paid)
        assert.ok(after.order.refunded_cents <= after.order.captured_cents)
        assertLines(before.returns[0], after.returns[0], seen.body.lines)
      }
      await store.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})

type Body = Record<string, unknown> & {
  refund: Record<string, unknown> | null
  lines: Record<string, number | string>[]
}

function assertSame(
  seen: Body,
  got: { return: { status: string }; refund: Body['refund']; movements: Record<string, unknown>[] },
) {
  assert.equal(got.return.status, seen.status)
  const moneyOf = (refund: Body['refund']) =>
    refund && [
      refund.method,
      refund.amount_cents,
      refund.product_cents,
      refund.tax_cents,
      refund.shipping_cents,
      refund.tenders,
    ]
  assert.deepEqual(moneyOf(got.refund), moneyOf(seen.refund))
  assert.deepEqual(
    got.movements.map(({ variant_id, location_id, quantity }) => ({
      variant_id,
      location_id,
      quantity,
    })),
    seen.restocked,
  )
}

/** Each line has changed by what the preview said of it. */
function assertLines(
  before: { lines: Record<string, number>[] },
  after: { lines: Record<string, number>[] },
  planned: Body['lines'],
) {
  for (const [at, line] of after.lines.entries()) {
    const plan = planned.find(({ return_line_id }) => return_line_id === (line.id as unknown))
    for (const name of [
      'received_quantity',
      'missing_quantity',
      'refunded_quantity',
      'already_refunded_quantity',
      'refund_cents',
    ]) {
      const change = (line[name] ?? 0) - (before.lines[at]?.[name] ?? 0)
      assert.equal(change, plan?.[name] ?? 0, name)
    }
  }
}
