import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sum } from '../../../src/kernel/money.ts'
import {
  lineShare,
  type Priced,
  PriceLimitError,
  type PriceLine,
  taxInShipping,
  withoutTax,
} from '../../../src/modules/pricing/price.ts'
import {
  coupon,
  order,
  type PriceInput,
  line as plainLine,
  priceCart,
  repriceCart,
} from './setup.ts'

const small = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 200_000 }))
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

const lines: fc.Arbitrary<PriceLine[]> = fc.array(
  fc.record({
    variant_id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    product_id: fc.constantFrom('p', 'q', 'r'),
    quantity: fc.integer({ min: 1, max: 40 }),
    list_price_cents: small,
    group_prices: fc.array(
      fc.record({ price_cents: small, min_quantity: fc.integer({ min: 1, max: 30 }) }),
      { maxLength: 3 },
    ),
    subscription_price_cents: orNull(small),
    collection_slugs: fc.subarray(['sale', 'new']),
  }),
  { minLength: 1, maxLength: 8 },
)

const coupons = fc
  .record({
    type: fc.constantFrom('percent' as const, 'fixed' as const, 'free_shipping' as const),
    percent_bps: fc.integer({ min: 1, max: 10_000 }),
    amount_cents: small,
    min_subtotal_cents: orNull(small),
    max_discount_cents: orNull(small),
    applies_to: orNull(
      fc.record({
        product_ids: fc.subarray(['p', 'q']),
        collection_slugs: fc.subarray(['sale', 'new']),
      }),
    ),
  })
  .map(coupon)

const policies = fc.record({
  mode: fc.constant('flat' as const),
  flat_rate_cents: small,
  expedited_rate_cents: small,
  max_cents: small,
  free_shipping_threshold_cents: orNull(small),
})

const inputs: fc.Arbitrary<PriceInput> = fc
  .record({
    lines,
    subscribe: fc.boolean(),
    coupon: fc.oneof(fc.constantFrom(null, 'unknown' as const), coupons),
    shipping: orNull(policies),
    expedited: fc.boolean(),
    tax: orNull(fc.record({ rate_bps: fc.integer({ min: 0, max: 3_000 }) })),
    prices_include_tax: fc.boolean(),
  })
  .map(order)

const AMOUNTS = ['discount_cents', 'tax_cents', 'shipping_cents'] as const

interface SharingLine {
  variant_id: string
  unit_price_cents: number
  quantity: number
  line_total_cents: number
}

/** The rule of docs/rulings/, cent by cent, for an amount that is split by line totals. */
function sharesByRule(cents: number, all: readonly SharingLine[]): number[] {
  const isFree = all.every(({ line_total_cents }) => line_total_cents === 0)
  const weights = all.map((each) => (isFree ? each.quantity : each.line_total_cents))
  const whole = sum(weights)
  const shares = weights.map((weight) => Math.floor((cents * weight) / whole))
  const remainders = weights.map((weight) => (cents * weight) % whole)
  const isBefore = (a: number, b: number): boolean => {
    const [one, other] = [all[a], all[b]]
    assert.ok(one && other)
    const [mine = 0, theirs = 0] = [remainders[a], remainders[b]]
    if (mine !== theirs) return mine > theirs
    if (one.variant_id !== other.variant_id) return one.variant_id < other.variant_id
    if (one.unit_price_cents !== other.unit_price_cents)
      return one.unit_price_cents < other.unit_price_cents
    if (one.quantity !== other.quantity) return one.quantity < other.quantity
    return a < b
  }
  const waiting = new Set(all.keys())
  for (let left = cents - sum(shares); left > 0; left--) {
    const next = [...waiting].reduce((best, each) => (isBefore(each, best) ? each : best))
    shares[next] = (shares[next] ?? 0) + 1
    waiting.delete(next)
  }
  return shares
}

/** The tax inside an amount, by whole cents: the largest that is at most half a cent too high. */
function insideByRule(gross_cents: number, rate_bps: number): number {
  const [gross, rate] = [BigInt(gross_cents), BigInt(rate_bps)]
  const net = (gross * 10_000n) / (10_000n + rate)
  const isLess = (tax: bigint) => (2n * tax - 1n) * (10_000n + rate) <= 2n * gross * rate
  let tax = gross - net - 1n
  while (isLess(tax + 1n)) tax += 1n
  return Number(tax)
}

const totals = ({ lines: _, ...rest }: Priced<unknown>) => rest

describe('for any order', () => {
  test('the lines add up to the order, to the cent, and no amount is negative', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const priced = priceCart(input)
        for (const name of AMOUNTS) {
          assert.equal(sum(priced.lines.map((line) => line[name])), priced[name], name)
        }
        const paid = priced.lines.map(
          (line) =>
            line.line_total_cents -
            line.discount_cents +
            (input.prices_include_tax ? 0 : line.tax_cents) +
            line.shipping_cents,
        )
        assert.equal(sum(paid), priced.total_cents)
        for (const line of priced.lines) {
          assert.equal(line.line_total_cents, line.unit_price_cents * line.quantity)
          assert.ok(line.unit_price_cents <= line.list_price_cents)
          assert.ok(line.discount_cents >= 0 && line.discount_cents <= line.line_total_cents)
          assert.ok(line.tax_cents >= 0 && line.shipping_cents >= 0)
        }
        assert.ok(priced.coupon.applied || priced.discount_cents === 0)
      }),
      { numRuns: 500 },
    )
  })

  test('a tax inside the prices equals an independent calculation, on goods after discounts and on shipping', () => {
    fc.assert(
      fc.property(inputs, fc.integer({ min: 0, max: 10_000 }), (input, rate_bps) => {
        const gross = priceCart({ ...input, prices_include_tax: true, tax: { rate_bps } })
        const goods_cents = gross.subtotal_cents - gross.discount_cents
        assert.equal(gross.tax_cents, insideByRule(goods_cents + gross.shipping_cents, rate_bps))
        assert.equal(gross.total_cents, goods_cents + gross.shipping_cents)
        const isWithin = (each: (typeof gross.lines)[number]) =>
          each.tax_cents <= each.line_total_cents + each.shipping_cents
        assert.ok(gross.lines.every(isWithin))
        const { sales_cents, discount_cents, shipping_cents, tax_cents } = withoutTax({
          ...gross,
          prices_include_tax: true,
        })
        const parts = [sales_cents - discount_cents, shipping_cents, tax_cents]
        assert.ok(parts.every((cents) => cents >= 0))
        assert.equal(sum(parts), gross.total_cents)
      }),
      { numRuns: 500 },
    )
  })

  test('without a tax it makes no difference whether the prices include it', () => {
    fc.assert(
      fc.property(inputs, fc.constantFrom(null, { rate_bps: 0 }), (input, tax) => {
        const [gross, net] = [true, false].map((prices_include_tax) =>
          priceCart({ ...input, tax, prices_include_tax }),
        )
        assert.deepEqual(gross, net)
      }),
    )
  })

  test("a provider's tax inside the prices is never more than the goods and the shipping", () => {
    fc.assert(
      fc.property(inputs, fc.nat(200_000), (input, tax_override) => {
        const price = () => priceCart({ ...input, tax_override, prices_include_tax: true })
        const { total_cents } = priceCart({ ...input, tax: null })
        if (tax_override > total_cents) return assert.throws(price, PriceLimitError)
        const priced = price()
        const booked = withoutTax({ ...priced, prices_include_tax: true })
        const { sales_cents, discount_cents, shipping_cents, tax_cents } = booked
        assert.ok(sales_cents >= discount_cents && shipping_cents >= 0)
        assert.equal(sales_cents - discount_cents + shipping_cents + tax_cents, priced.total_cents)
      }),
    )
  })

  test('the order of the lines changes nothing, neither the totals nor the share of a line', () => {
    const shuffled = inputs.chain((input) =>
      fc.tuple(
        fc.constant(input),
        fc.shuffledSubarray(
          input.lines.map((_, place) => place),
          { minLength: input.lines.length },
        ),
      ),
    )
    const asText = ({ lines: all }: Priced<PriceLine>) => all.map((line) => JSON.stringify(line))
    fc.assert(
      fc.property(shuffled, ([input, places]) => {
        const moved = places.flatMap((place) => input.lines[place] ?? [])
        const [one, other] = [priceCart(input), priceCart({ ...input, lines: moved })]
        assert.deepEqual(totals(other), totals(one))
        const distinct = new Set(input.lines.map(({ variant_id }) => variant_id))
        if (distinct.size < input.lines.length) return
        assert.deepEqual(asText(other).sort(), asText(one).sort())
      }),
    )
  })

  test('remaining cents go to the largest remainder, and equal remainders follow the documented rule', () => {
    // Few prices and variants, so that remainders often tie.
    const tied = fc.array(
      fc.record({
        variant_id: fc.constantFrom('a', 'b', 'c'),
        quantity: fc.integer({ min: 1, max: 3 }),
        list_price_cents: fc.constantFrom(0, 100, 200),
      }),
      { minLength: 1, maxLength: 8 },
    )
    const shipped = fc.integer({ min: 0, max: 60 })
    fc.assert(
      fc.property(tied, shipped, fc.integer({ min: 0, max: 900 }), (some, cents, rate_bps) => {
        const shipping = {
          mode: 'flat' as const,
          flat_rate_cents: cents,
          expedited_rate_cents: 0,
          max_cents: cents,
          free_shipping_threshold_cents: null,
        }
        const input = order({
          lines: some.map((each) => plainLine(each)),
          shipping,
          tax: { rate_bps },
        })
        const { lines: priced, tax_cents } = priceCart(input)
        assert.deepEqual(
          priced.map((each) => each.shipping_cents),
          sharesByRule(cents, priced),
        )
        assert.deepEqual(
          priced.map((each) => each.tax_cents),
          sharesByRule(tax_cents, priced),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('more units never cost less if no threshold and no group price is crossed', () => {
    fc.assert(
      fc.property(inputs, fc.nat(7), (input, at) => {
        const shipping = input.shipping && {
          ...input.shipping,
          free_shipping_threshold_cents: null,
        }
        const terms =
          typeof input.coupon === 'object' && input.coupon !== null
            ? { ...input.coupon, min_subtotal_cents: null, applies_to: null }
            : input.coupon
        const plain = input.lines.map((line) => ({ ...line, group_prices: [] }))
        const more = plain.map((line, place) =>
          place === at ? { ...line, quantity: line.quantity + 1 } : line,
        )
        const base = { ...input, shipping, coupon: terms }
        const [less, greater] = [
          priceCart({ ...base, lines: plain }),
          priceCart({ ...base, lines: more }),
        ]
        assert.ok(greater.total_cents >= less.total_cents)
        assert.ok(greater.discount_cents >= less.discount_cents)
        assert.ok(greater.tax_cents >= less.tax_cents)
      }),
    )
  })

  test('neither a coupon nor a group raises the price', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const shipping = input.shipping && {
          ...input.shipping,
          free_shipping_threshold_cents: null,
        }
        const mine = priceCart({ ...input, shipping })
        assert.ok(mine.total_cents <= priceCart({ ...input, shipping, coupon: null }).total_cents)
        const alone = input.lines.map((line) => ({ ...line, group_prices: [] }))
        assert.ok(mine.subtotal_cents <= priceCart({ ...input, lines: alone }).subtotal_cents)
      }),
    )
  })

  test('gift cards in the same order cost their face value, and change none of its prices', () => {
    const gifts = fc.array(
      fc.record({ quantity: fc.integer({ min: 1, max: 5 }), list_price_cents: fc.nat(20_000) }),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(inputs, gifts, (input, some) => {
        const cards = some.map((each, at) => ({
          ...plainLine({ ...each, variant_id: `gift ${at}` }),
          // Neither a group nor a subscription makes a gift card cheaper.
          group_prices: [{ price_cents: 0, min_quantity: 1 }],
          subscription_price_cents: 0,
          gift_card: true,
        }))
        const goods = priceCart(input)
        const both = priceCart({ ...input, lines: [...cards, ...input.lines] })
        const worth = sum(some.map((each) => each.quantity * each.list_price_cents))
        assert.deepEqual(both.lines.slice(cards.length), goods.lines)
        assert.deepEqual(totals(both), {
          ...totals(goods),
          gift_card_cents: worth,
          subtotal_cents: goods.subtotal_cents + worth,
          total_cents: goods.total_cents + worth,
        })
        for (const line of both.lines.slice(0, cards.length)) {
          assert.deepEqual([line.discount_cents, line.tax_cents, line.shipping_cents], [0, 0, 0])
        }
        assert.deepEqual(repriceCart({ ...input, lines: both.lines }), both)
        const booked = withoutTax({ ...input, ...both })
        const { gift_card_cents: _, ...others } = booked
        const { gift_card_cents: none, ...alone } = withoutTax({ ...input, ...goods })
        assert.deepEqual([booked.gift_card_cents, none, others], [worth, 0, alone])
      }),
      { numRuns: 500 },
    )
  })

  test('an order of gift cards alone has no shipping, no tax and no discount', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const cards = input.lines.map((line) => ({ ...line, gift_card: true }))
        const priced = priceCart({ ...input, lines: cards })
        assert.equal(priced.total_cents, priced.subtotal_cents)
        assert.equal(priced.gift_card_cents, priced.subtotal_cents)
        assert.equal(priced.free_shipping_remaining_cents, null)
        assert.equal(priced.coupon.applied, false)
      }),
    )
  })

  test('an edit that changes nothing costs the same as the order', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const priced = priceCart(input)
        const again = repriceCart({ ...input, lines: priced.lines })
        assert.deepEqual(again, priced)
      }),
    )
  })

  test('refunds in any number of parts add up to exactly the amount paid', () => {
    const parts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(inputs, parts, (input, steps) => {
        const priced = priceCart(input)
        const back = priced.lines.flatMap((line) => {
          const shares: ReturnType<typeof lineShare>[] = []
          for (let before = 0, step = 0; before < line.quantity; step++) {
            const now = Math.min(steps[step % steps.length] ?? 1, line.quantity - before)
            shares.push(lineShare(line, before, now, input.prices_include_tax))
            before += now
          }
          return shares
        })
        assert.ok(back.every((share) => Object.values(share).every((cents) => cents >= 0)))
        assert.equal(sum(back.map((share) => share.amount_cents)), priced.total_cents)
        // Tax inside the shipping is refunded with the shipping, as `shipping-tax.test.ts` has it.
        const inShipping = sum(
          priced.lines.map((line) =>
            input.prices_include_tax
              ? taxInShipping(
                  line.tax_cents,
                  line.line_total_cents - line.discount_cents,
                  line.shipping_cents,
                )
              : 0,
          ),
        )
        assert.equal(sum(back.map((share) => share.tax_cents)), priced.tax_cents - inShipping)
        const goods_cents = priced.subtotal_cents - priced.discount_cents
        const ofGoods = priced.tax_cents - inShipping
        assert.equal(
          sum(back.map((share) => share.product_cents)),
          goods_cents - (input.prices_include_tax ? ofGoods : 0),
        )
        assert.equal(sum(back.map((share) => share.shipping_cents)), priced.shipping_cents)
      }),
    )
  })
})
