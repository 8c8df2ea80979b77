import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CouponContext, CouponTerms } from '../../../src/modules/pricing/coupon.ts'
import { lineShare, PriceLimitError, singleCurrency } from '../../../src/modules/pricing/price.ts'
import {
  coupon,
  fixed,
  freeShipping,
  line,
  order,
  policy,
  priceCart,
  repriceCart,
} from './setup.ts'

const unit = (input: Parameters<typeof order>[0]) =>
  priceCart(order(input)).lines[0]?.unit_price_cents

describe('the price of a unit', () => {
  const group_prices = [
    { price_cents: 900, min_quantity: 1 },
    { price_cents: 700, min_quantity: 10 },
    { price_cents: 950, min_quantity: 1 },
  ]

  test('is the list price without a group', () => assert.equal(unit({}), 1_000))

  test('is the lowest price of the groups', () =>
    assert.equal(unit({ lines: [line({ group_prices })] }), 900))

  test('uses a quantity price only from that quantity on, counted over all lines of the variant', () => {
    assert.equal(unit({ lines: [line({ group_prices, quantity: 9 })] }), 900)
    assert.equal(unit({ lines: [line({ group_prices, quantity: 10 })] }), 700)
    const twice = [line({ group_prices, quantity: 4 }), line({ group_prices, quantity: 6 })]
    assert.equal(unit({ lines: twice }), 700)
  })

  test('is never above the list price', () =>
    assert.equal(
      unit({ lines: [line({ group_prices: [{ price_cents: 1_100, min_quantity: 1 }] })] }),
      1_000,
    ))

  test('is the subscription price for a subscriber, unless another is lower', () => {
    const lines = [line({ subscription_price_cents: 800 })]
    assert.equal(unit({ lines }), 1_000)
    assert.equal(unit({ lines, subscribe: true }), 800)
    assert.equal(unit({ lines: [line()], subscribe: true }), 1_000)
    const both = [line({ subscription_price_cents: 800, group_prices, quantity: 10 })]
    assert.equal(unit({ lines: both, subscribe: true }), 700)
  })
})

describe('a coupon', () => {
  const lines = [
    line({ variant_id: 'a', product_id: 'p', quantity: 3, list_price_cents: 333 }),
    line({
      variant_id: 'b',
      product_id: 'q',
      quantity: 1,
      list_price_cents: 2_001,
      collection_slugs: ['sale'],
    }),
  ]
  const off = (terms: Partial<CouponTerms>) =>
    priceCart(order({ lines, coupon: coupon(terms) })).discount_cents

  test('takes a percentage off, rounding half a cent up', () => {
    assert.equal(off({ percent_bps: 1_000 }), 300)
    assert.equal(off({ percent_bps: 1_050 }), 315)
    assert.equal(off({ percent_bps: 10_000 }), 3_000)
    assert.equal(
      priceCart(order({ lines: [line({ list_price_cents: 5 })], coupon: coupon() })).discount_cents,
      1,
    )
  })

  test('takes no more off than its maximum', () =>
    assert.equal(off({ max_discount_cents: 250 }), 250))

  test('takes an amount off, and no more than the goods cost', () => {
    assert.equal(priceCart(order({ lines, coupon: fixed(700) })).discount_cents, 700)
    const all = priceCart(order({ lines, coupon: fixed(9_000), tax: { rate_bps: 1_000 } }))
    assert.deepEqual([all.discount_cents, all.tax_cents, all.total_cents], [3_000, 0, 0])
  })

  test('can be limited to products or collections, and is split over their lines alone', () => {
    const some = priceCart(
      order({
        lines,
        coupon: fixed(2_500, { applies_to: { product_ids: [], collection_slugs: ['sale'] } }),
      }),
    )
    assert.deepEqual(
      some.lines.map((each) => each.discount_cents),
      [0, 2_001],
    )
    const half = priceCart(
      order({
        lines,
        coupon: coupon({
          percent_bps: 5_000,
          applies_to: { product_ids: ['p'], collection_slugs: [] },
        }),
      }),
    )
    assert.deepEqual(
      half.lines.map((each) => each.discount_cents),
      [500, 0],
    )
  })

  const used: CouponContext = {
    now: new Date('2026-03-01T12:00:00Z'),
    customer_used: 1,
    orders_before: 1,
    currency: 'USD',
  }
  const refusals: [reason: string, terms: Partial<CouponTerms>][] = [
    ['unknown', { status: 'paused' }],
    ['unknown', { status: 'draft' }],
    ['not_started', { starts_at: '2026-03-01T12:00:00.001Z' }],
    ['expired', { ends_at: '2026-03-01T12:00:00.000Z' }],
    ['expired', { status: 'expired' }],
    ['exhausted', { usage_limit: 2, used_count: 2 }],
    ['exhausted', { status: 'exhausted' }],
    ['per_customer', { usage_limit_per_customer: 1 }],
    ['not_applicable', { first_order_only: true }],
    ['not_applicable', { applies_to: { product_ids: ['other'], collection_slugs: ['other'] } }],
    ['min_subtotal', { min_subtotal_cents: 3_001 }],
  ]
  for (const [reason, terms] of refusals) {
    test(`is refused as ${reason} for ${JSON.stringify(terms)}`, () => {
      for (const each of [coupon(terms), fixed(100, terms), freeShipping(terms)]) {
        const priced = priceCart(
          order({ lines, coupon: each, coupon_context: used, shipping: policy }),
        )
        assert.deepEqual(priced.coupon, { applied: false, reason })
        assert.deepEqual([priced.discount_cents, priced.shipping_cents], [0, 500])
      }
    })
  }

  test('is accepted at the edge of its limits', () => {
    const edge = coupon({
      starts_at: '2026-03-01T12:00:00.000Z',
      ends_at: '2026-03-01T12:00:00.001Z',
      usage_limit: 2,
      used_count: 1,
      usage_limit_per_customer: 2,
      min_subtotal_cents: 3_000,
    })
    const priced = priceCart(order({ lines, coupon: edge, coupon_context: used }))
    assert.deepEqual(priced.coupon, { applied: true, reason: null })
  })

  test('a coupon that does not exist is reported as unknown, and an order without a coupon has no reason', () => {
    assert.deepEqual(priceCart(order({ coupon: 'unknown' })).coupon, {
      applied: false,
      reason: 'unknown',
    })
    assert.deepEqual(priceCart(order()).coupon, { applied: false, reason: null })
  })
})

describe('shipping', () => {
  const ship = (over: Parameters<typeof order>[0]) => {
    const { shipping_cents, free_shipping_remaining_cents } = priceCart(
      order({ shipping: policy, ...over }),
    )
    return [shipping_cents, free_shipping_remaining_cents]
  }

  test('costs nothing without a policy', () =>
    assert.deepEqual(ship({ shipping: null }), [0, null]))
  test('costs the flat rate', () => assert.deepEqual(ship({}), [500, 4_000]))
  test('costs at most the maximum', () => {
    assert.deepEqual(ship({ expedited: true }), [1_200, null])
    assert.deepEqual(ship({ shipping: { ...policy, max_cents: 0 } }), [0, 0])
  })
  test('is free from the threshold on, after the discount', () => {
    const lines = [line({ quantity: 5 })]
    assert.deepEqual(ship({ lines }), [0, 0])
    assert.deepEqual(ship({ lines, coupon: fixed(1) }), [500, 1])
  })
  test('is not free for expedited orders', () =>
    assert.deepEqual(ship({ lines: [line({ quantity: 9 })], expedited: true }), [1_200, null]))
  test('reports no missing amount without a threshold', () => {
    const { free_shipping_threshold_cents: _, ...without } = policy
    assert.deepEqual(ship({ shipping: without }), [500, null])
    assert.deepEqual(ship({ shipping: { ...policy, free_shipping_threshold_cents: null } }), [
      500,
      null,
    ])
    assert.deepEqual(ship({ shipping: { ...policy, free_shipping_threshold_cents: 0 } }), [0, 0])
  })
  test('is waived by a coupon, up to its maximum', () => {
    assert.deepEqual(ship({ coupon: freeShipping() }), [0, 0])
    assert.deepEqual(ship({ coupon: freeShipping(), expedited: true }), [0, null])
    assert.deepEqual(ship({ coupon: freeShipping({ max_discount_cents: 200 }) }), [300, 4_000])
  })
  test('is split over free lines too', () => {
    const lines = [
      line({ variant_id: 'a', list_price_cents: 0, quantity: 3 }),
      line({ variant_id: 'b', list_price_cents: 0 }),
    ]
    const priced = priceCart(order({ lines, shipping: policy }))
    assert.deepEqual(
      priced.lines.map((each) => each.shipping_cents),
      [375, 125],
    )
  })
})

describe('tax', () => {
  test('is on the goods after the discount, without shipping, rounding half a cent up', () => {
    const input = order({ coupon: fixed(10), shipping: policy, tax: { rate_bps: 825 } })
    const priced = priceCart(input)
    assert.equal(priced.tax_cents, 82)
    assert.equal(priced.total_cents, 990 + 500 + 82)
  })
  test("is the provider's amount, if a provider was asked", () => {
    const priced = priceCart(order({ tax: { rate_bps: 825 }, tax_override: 7 }))
    assert.deepEqual([priced.tax_cents, priced.total_cents], [7, 1_007])
  })
})

describe('bounds', () => {
  const refusals: [limit: string, input: Parameters<typeof order>[0]][] = [
    ['line_quantity', { lines: [line({ quantity: 10_001 })] }],
    ['line_quantity', { lines: [line({ quantity: 0 })] }],
    ['line_quantity', { lines: [line({ quantity: -1 })] }],
    ['line_quantity', { lines: [line({ quantity: 1.5 })] }],
    ['line_quantity', { lines: [line({ quantity: Number.NaN })] }],
    ['line_quantity', { lines: [line({ quantity: 10_000 }), line({ quantity: 1 })] }],
    ['order_total', { lines: [line({ list_price_cents: 100_000_000_001 })] }],
    ['order_total', { lines: [line({ list_price_cents: 100_000_000_000, quantity: 2 })] }],
    [
      'order_total',
      {
        lines: [
          line({ list_price_cents: 60_000_000_000 }),
          line({ variant_id: 'b', list_price_cents: 60_000_000_000 }),
        ],
      },
    ],
    ['tax', { tax: { rate_bps: Number.MAX_SAFE_INTEGER } }],
    ['tax', { tax_override: -1 }],
    ['tax', { tax_override: 0.5 }],
    [
      'order_total',
      { lines: [line({ list_price_cents: 100_000_000_000 })], shipping: policy, expedited: true },
    ],
    [
      'shipping',
      {
        shipping: {
          ...policy,
          flat_rate_cents: Number.MAX_SAFE_INTEGER,
          max_cents: Number.MAX_SAFE_INTEGER,
        },
      },
    ],
  ]
  for (const [limit, input] of refusals) {
    test(`${limit}: ${JSON.stringify(input)}`, () =>
      assert.throws(
        () => priceCart(order(input)),
        (error) => error instanceof PriceLimitError && error.limit === limit,
      ))
  }

  test('are inclusive', () => {
    assert.equal(
      priceCart(order({ lines: [line({ quantity: 10_000, list_price_cents: 10_000_000 })] }))
        .total_cents,
      100_000_000_000,
    )
    const two = [line({ quantity: 10_000 }), line({ quantity: 10_000, variant_id: 'b' })]
    assert.equal(priceCart(order({ lines: two })).lines.length, 2)
  })
})

describe('an order that was edited', () => {
  const bought = (quantity: number) => ({
    ...line({ quantity, list_price_cents: 9_999 }),
    unit_price_cents: 900,
  })

  test('keeps the prices at which it was bought', () => {
    const { subtotal_cents, total_cents } = repriceCart({ ...order(), lines: [bought(3)] })
    assert.deepEqual([subtotal_cents, total_cents], [2_700, 2_700])
  })

  test('keeps a coupon that has expired since, and loses one whose minimum is no longer met', () => {
    const terms = coupon({
      status: 'exhausted',
      ends_at: '2020-01-01T00:00:00Z',
      min_subtotal_cents: 2_000,
    })
    const kept = repriceCart({ ...order({ coupon: terms }), lines: [bought(3)] })
    assert.deepEqual([kept.coupon, kept.discount_cents], [{ applied: true, reason: null }, 270])
    const lost = repriceCart({ ...order({ coupon: terms }), lines: [bought(2)] })
    assert.deepEqual(
      [lost.coupon, lost.discount_cents],
      [{ applied: false, reason: 'min_subtotal' }, 0],
    )
  })

  test('costs nothing, shipping included, when no units are left', () => {
    const none = repriceCart({
      ...order({ shipping: policy, tax: { rate_bps: 825 }, coupon: freeShipping() }),
      lines: [bought(0)],
    })
    assert.equal(none.total_cents, 0)
    assert.equal(none.coupon.reason, 'not_applicable')
  })
})

test('an order has a currency only if all its lines have the same', () => {
  assert.equal(singleCurrency([{ currency: 'USD' }, { currency: 'USD' }]), 'USD')
  assert.equal(singleCurrency([{ currency: 'USD' }, { currency: 'EUR' }]), null)
  assert.equal(singleCurrency([]), null)
})

test('a share of more units than the line has is an error', () => {
  const stored = {
    quantity: 2,
    line_total_cents: 10,
    discount_cents: 1,
    tax_cents: 1,
    shipping_cents: 3,
  }
  for (const [before, now] of [
    [0, 3],
    [2, 1],
    [-1, 1],
    [0, 0.5],
  ] as const) {
    assert.throws(() => lineShare(stored, before, now, false), RangeError)
  }
  assert.deepEqual(lineShare(stored, 1, 1, false), {
    product_cents: 5,
    tax_cents: 1,
    shipping_cents: 2,
    amount_cents: 8,
  })
})

test('a unit is refunded at its price, to the cent, if the price contains the tax', () => {
  const stored = {
    quantity: 3,
    line_total_cents: 3_000,
    discount_cents: 0,
    tax_cents: 479,
    shipping_cents: 0,
  }
  const units = [0, 1, 2].map((before) => lineShare(stored, before, 1, true))
  assert.deepEqual(
    units.map(({ amount_cents, tax_cents }) => [amount_cents, tax_cents]),
    [
      [1_000, 159],
      [1_000, 160],
      [1_000, 160],
    ],
  )
})
