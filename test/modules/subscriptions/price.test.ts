import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { bpsOf, sum } from '../../../src/kernel/money.ts'
import { recurringTerms, termsForOrder } from '../../../src/modules/pricing/coupon.ts'
import { renewalAmount } from '../../../src/modules/subscriptions/price.ts'
import { coupon, line, order, priceCart } from '../pricing/setup.ts'

const cents = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 200_000 }))
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

const coupons = fc
  .record({
    type: fc.constantFrom('percent' as const, 'fixed' as const, 'free_shipping' as const),
    percent_bps: fc.integer({ min: 1, max: 10_000 }),
    amount_cents: fc.integer({ min: 1, max: 50_000 }),
    min_subtotal_cents: orNull(cents),
    max_discount_cents: orNull(cents),
    applies_to: orNull(
      fc.record({ product_ids: fc.subarray(['p', 'q']), collection_slugs: fc.subarray(['sale']) }),
    ),
  })
  .map(coupon)

const policies = fc.record({
  shipping: orNull(
    fc.record({
      mode: fc.constant('flat' as const),
      flat_rate_cents: cents,
      expedited_rate_cents: cents,
      max_cents: cents,
      free_shipping_threshold_cents: orNull(cents),
    }),
  ),
  expedited: fc.boolean(),
  rate_bps: orNull(fc.integer({ min: 0, max: 3_000 })),
  prices_include_tax: fc.boolean(),
})

const goods = fc.record({
  variant_id: fc.uuid(),
  product_id: fc.constantFrom('p', 'q', 'r'),
  quantity: fc.integer({ min: 1, max: 40 }),
  list_price_cents: cents,
})

const row = (
  {
    variant_id,
    product_id,
    quantity,
  }: { variant_id: string; product_id: string; quantity: number },
  pricing: Record<string, unknown>,
) => ({
  variant_id,
  product_id,
  quantity,
  currency: 'USD',
  pricing,
  unit_price_cents: 0,
  prices_include_tax: false,
})

describe('what a renewal costs', () => {
  test('is what a checkout of the same line costs, to the cent', () => {
    fc.assert(
      fc.property(goods, policies, orNull(coupons), (of, terms, used) => {
        const { shipping, expedited, rate_bps, prices_include_tax } = terms
        const lines = [line(of)]
        const priced = priceCart(
          order({
            lines,
            coupon: used,
            shipping,
            expedited,
            tax: rate_bps === null ? null : { rate_bps },
            prices_include_tax,
          }),
        )
        const tax = rate_bps === null ? null : { provider: 'flat_rate', rate_bps }
        const kept = used && { code: 'X', ...termsForOrder(used, priced.lines) }
        const pricing = { shipping, expedited, tax, coupon: kept }
        assert.deepEqual(renewalAmount(row(of, pricing), of.list_price_cents, prices_include_tax), {
          amount_cents: priced.total_cents,
          is_estimate: false,
        })
      }),
    )
  })

  test('keeps the share of a recurring coupon that its line had: fixed amounts are split, and never doubled', () => {
    fc.assert(
      fc.property(fc.array(goods, { minLength: 1, maxLength: 6 }), coupons, (many, used) => {
        const lines = many.map((each) => line({ ...each, collection_slugs: ['sale'] }))
        const priced = priceCart(order({ lines, coupon: used }))
        const terms = termsForOrder(used, priced.lines)
        const off = priced.lines.map((each) => {
          const kept = priced.coupon.applied ? recurringTerms(terms, each) : null
          const pricing = { coupon: kept && { code: 'X', ...kept } }
          const amount = renewalAmount(row(each, pricing), each.unit_price_cents, false)
          return each.line_total_cents - (amount?.amount_cents ?? 0)
        })
        for (const [at, each] of priced.lines.entries()) {
          assert.ok((off[at] ?? 0) >= 0 && (off[at] ?? 0) <= each.line_total_cents)
          const isPlain = used.type === 'percent' && used.max_discount_cents === null
          if (isPlain && each.discount_cents > 0)
            assert.equal(off[at], bpsOf(each.line_total_cents, used.percent_bps ?? 0))
        }
        if (used.type === 'fixed') assert.equal(sum(off), priced.discount_cents)
        if (used.max_discount_cents !== null) assert.ok(sum(off) <= used.max_discount_cents)
      }),
    )
  })

  test('is an estimate if a provider computes the tax, by the rate of the origin order', () => {
    const of = row(
      { variant_id: 'v', product_id: 'p', quantity: 2 },
      {
        tax: { provider: 'acme_tax', rate_bps: 0 },
        tax_estimate_bps: 825,
      },
    )
    assert.deepEqual(renewalAmount(of, 1_000, false), { amount_cents: 2_165, is_estimate: true })
    assert.deepEqual(renewalAmount({ ...of, pricing: null }, 1_000, false), {
      amount_cents: 2_000,
      is_estimate: false,
    })
  })

  test('never exceeds the largest order amount', () => {
    const of = row({ variant_id: 'v', product_id: 'p', quantity: 10_000 }, {})
    assert.equal(renewalAmount(of, 100_000_000, false), null)
  })
})
