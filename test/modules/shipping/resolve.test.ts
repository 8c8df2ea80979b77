import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { resolveShipping } from '../../../src/modules/shipping/resolve.ts'
import type { ShippingTerms } from '../../../src/modules/shipping/schema.ts'
import { methodOf, sendsTerms, termsAtPrice, termsIn } from '../../../src/modules/shipping/terms.ts'

const policy = (cents: number) => ({
  mode: 'flat' as const,
  flat_rate_cents: cents,
  expedited_rate_cents: 2 * cents,
  max_cents: 100_000,
})
const goods = { lines: [{ quantity: 1 }], goods_cents: 1_000 }

const cents = fc.integer({ min: 0, max: 50_000 })
const policies = cents.map(policy)
const terms: fc.Arbitrary<ShippingTerms> = fc.record(
  { shipping: fc.option(policies), expedited: fc.boolean() },
  { requiredKeys: [] },
)

describe('the terms of shipping that hold', () => {
  const kept = { shipping: policy(300), expedited: true }

  test('are those that are sent, member by member, and else those that are kept', () => {
    const sent = { shipping: policy(500) }
    const held = resolveShipping({ sent, kept }, goods)
    assert.deepEqual(held.terms, { shipping: policy(500), expedited: true })
    assert.equal(held.cents, 1_000)
    const slower = resolveShipping({ sent: { expedited: false }, kept }, goods)
    assert.deepEqual(slower.terms, { shipping: policy(300), expedited: false })
    assert.equal(slower.cents, 300)
  })

  test('are those that are kept where null is sent', () => {
    const sent = { shipping: null, expedited: null }
    assert.deepEqual(resolveShipping({ sent, kept }, goods).terms, kept)
  })

  test('cost nothing where there is no policy, and are stored as that', () =>
    assert.deepEqual(resolveShipping({ sent: {} }, goods), {
      cents: 0,
      missing_for_free_cents: null,
      terms: { shipping: null, expedited: false },
    }))

  test('give the same price again when they are kept: of an edit and of a renewal', () => {
    fc.assert(
      fc.property(terms, terms, cents, (sent, before, goods_cents) => {
        const sold = { ...goods, goods_cents }
        const first = resolveShipping({ sent, kept: before }, sold)
        const stored = termsIn(JSON.parse(JSON.stringify(first.terms)))
        assert.deepEqual(resolveShipping({ kept: stored }, sold), first)
      }),
    )
  })
})

describe('the shipping of goods', () => {
  const sent = { shipping: { ...policy(500), free_shipping_threshold_cents: 4_000 } }

  test('says what is missing until it is free', () => {
    const { cents: price, missing_for_free_cents } = resolveShipping({ sent }, goods)
    assert.deepEqual([price, missing_for_free_cents], [500, 3_000])
  })

  for (const [what, lines] of [
    ['gift cards alone', [{ quantity: 2, gift_card: true }]],
    ['an edit that leaves no unit', [{ quantity: 0 }]],
    ['no line', []],
  ] as const) {
    test(`costs nothing for ${what}, and no amount is missing`, () => {
      const { cents: price, missing_for_free_cents } = resolveShipping(
        { sent },
        { ...goods, lines },
      )
      assert.deepEqual([price, missing_for_free_cents], [0, null])
    })
  }

  test('costs what its merchant names, for any goods and any way', () => {
    fc.assert(
      fc.property(cents, cents, fc.boolean(), (price, goods_cents, expedited) => {
        const kept = { ...termsAtPrice(price), expedited }
        assert.equal(resolveShipping({ kept }, { ...goods, goods_cents }).cents, price)
      }),
    )
  })
})

test('a change sends terms of shipping where one of them is not null', () => {
  assert.equal(sendsTerms({}), false)
  assert.equal(sendsTerms({ shipping: null, expedited: null }), false)
  assert.equal(sendsTerms({ expedited: false }), true)
  assert.equal(sendsTerms({ shipping: policy(1) }), true)
})

test('the way of shipping is standard unless it is expedited', () =>
  assert.deepEqual([{}, { expedited: false }, { expedited: true }].map(methodOf), [
    'standard',
    'standard',
    'expedited',
  ]))
