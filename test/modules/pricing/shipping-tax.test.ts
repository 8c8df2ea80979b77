import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { taxInside } from '../../../src/kernel/money.ts'
import {
  type LineShares,
  lineShare,
  taxInShipping,
  withoutTax,
} from '../../../src/modules/pricing/price.ts'
import { coupon, priceCart } from './setup.ts'

const RUNS = process.env.LONG === '1' ? 20_000 : 1_000

const CONTEXT = {
  now: new Date('2026-01-01T00:00:00Z'),
  customer_used: 0,
  orders_before: 0,
  currency: 'EUR',
}

interface Drawn {
  lines: { price: number; quantity: number; gift_card: boolean }[]
  rate: number
  shipping: number
  discount: number
}

/** Prices a cart with the tax inside. */
function priceDrawn({ lines, rate, shipping, discount }: Drawn) {
  const rates = { flat_rate_cents: shipping, expedited_rate_cents: shipping, max_cents: shipping }
  return priceCart({
    lines: lines.map(({ price: cents, quantity, gift_card }, at) => ({
      variant_id: `v${at}`,
      product_id: `p${at}`,
      quantity,
      gift_card,
      list_price_cents: cents,
      collection_slugs: [],
      group_prices: [],
      subscription_price_cents: null,
    })),
    subscribe: false,
    currency: 'EUR',
    coupon: discount === 0 ? null : coupon({ percent_bps: discount }),
    coupon_context: CONTEXT,
    shipping: { mode: 'flat', ...rates },
    expedited: false,
    tax: { rate_bps: rate },
    prices_include_tax: true,
  })
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  lines: fc.array(
    fc.record({
      price: fc.integer({ min: 0, max: 20_000 }),
      quantity: fc.integer({ min: 1, max: 7 }),
      gift_card: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  rate: fc.integer({ min: 0, max: 10_000 }),
  shipping: fc.integer({ min: 0, max: 3_000 }),
  discount: fc.constantFrom(0, 333, 5_000, 10_000),
})

const add = (lines: readonly LineShares[], name: keyof LineShares): number =>
  lines.reduce((sum, line) => sum + line[name], 0)

describe('tax inside of prices with shipping', () => {
  test('is the tax of goods and shipping together, and its shares add up to the cent', () => {
    fc.assert(
      fc.property(drawn, (cart) => {
        const priced = priceDrawn(cart)
        const paid = priced.total_cents - priced.gift_card_cents
        const hasGoods = cart.lines.some(({ gift_card }) => !gift_card)
        assert.equal(priced.tax_cents, hasGoods ? taxInside(paid, cart.rate) : 0)
        for (const name of ['tax_cents', 'shipping_cents', 'discount_cents'] as const) {
          assert.equal(add(priced.lines, name), priced[name], name)
        }
        for (const line of priced.lines) {
          const own = line.line_total_cents - line.discount_cents + line.shipping_cents
          assert.ok(line.tax_cents <= own, 'no line has more tax than it costs')
          if (line.gift_card) assert.equal(line.tax_cents, 0)
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('is booked apart from sales and shipping in the ledger, each within a cent of the rate', () => {
    fc.assert(
      fc.property(drawn, (cart) => {
        const priced = priceDrawn(cart)
        const books = withoutTax({ ...priced, prices_include_tax: true })
        const { sales_cents, discount_cents, shipping_cents, tax_cents, gift_card_cents } = books
        assert.equal(
          sales_cents - discount_cents + shipping_cents + tax_cents + gift_card_cents,
          priced.total_cents,
        )
        const inside = priced.shipping_cents - shipping_cents
        const exact = (priced.shipping_cents * cart.rate) / (10_000 + cart.rate)
        assert.ok(Math.abs(inside - exact) < 2, `${inside} of ${priced.shipping_cents}: ${exact}`)
        assert.ok(inside >= 0 && shipping_cents >= 0 && sales_cents - discount_cents >= 0)
      }),
      { numRuns: RUNS },
    )
  })

  test('is refunded with the units only for the goods, unit by unit exactly', () => {
    fc.assert(
      fc.property(drawn, fc.integer({ min: 1, max: 3 }), (cart, step) => {
        for (const line of priceDrawn(cart).lines) {
          const goods = line.line_total_cents - line.discount_cents
          const inShipping = taxInShipping(line.tax_cents, goods, line.shipping_cents)
          let [amount, tax] = [0, 0]
          for (let before = 0; before < line.quantity; before += step) {
            const now = Math.min(step, line.quantity - before)
            const share = lineShare(line, before, now, true)
            assert.ok(share.product_cents >= 0 && share.tax_cents >= 0)
            amount += share.product_cents + share.tax_cents
            tax += share.tax_cents
          }
          assert.deepEqual([amount, tax], [goods, line.tax_cents - inShipping])
        }
      }),
      { numRuns: RUNS },
    )
  })
})
