import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Variant } from '../../storefront/api/types.ts'
import { measurePrice } from '../../storefront/layout/measure-price.ts'

type Unit = NonNullable<Variant['content_unit']>

const priceOf = (cents: number, content_amount: number | null, content_unit: Unit | null) =>
  measurePrice({ content_amount, content_unit } as Variant, cents)

describe('the price of a measure', () => {
  const vectors: [cents: number, amount: number, unit: Unit, expected: string | null][] = [
    [199, 100, 'g', null],
    [199, 200, 'g', '100 per 100 g'],
    [199, 250, 'g', '80 per 100 g'],
    [199, 251, 'g', '793 per 1 kg'],
    [199, 500, 'g', '398 per 1 kg'],
    [3_290, 1, 'kg', null],
    [3_290, 3, 'kg', '1097 per 1 kg'],
    [999, 50, 'ml', '1998 per 100 ml'],
    [1_795, 750, 'ml', '2393 per 1 l'],
    [500, 250, 'cm', '200 per 1 m'],
    [500, 2, 'm2', '250 per 1 m2'],
    [500, 25_000, 'cm2', '200 per 1 m2'],
    [600, 12, 'piece', '50 per 1 piece'],
    [600, 1, 'piece', null],
    [0, 500, 'g', '0 per 1 kg'],
    // Just half a cent goes up.
    [1, 2, 'piece', '1 per 1 piece'],
    [1, 3, 'piece', '0 per 1 piece'],
  ]
  for (const [cents, amount, unit, expected] of vectors) {
    test(`the price of a measure of ${cents} for ${amount} ${unit} is ${expected ?? 'the price itself'}`, () => {
      const found = priceOf(cents, amount, unit)
      assert.equal(found && `${found.cents} per ${found.amount} ${found.unit}`, expected)
    })
  }

  test('is absent without a content', () => assert.equal(priceOf(1, null, null), null))

  const SMALL: Record<Unit, bigint> = {
    g: 1n,
    kg: 1_000n,
    ml: 1n,
    l: 1_000n,
    cm: 1n,
    m: 100n,
    cm2: 1n,
    m2: 10_000n,
    piece: 1n,
  }
  const anyPrice = fc.integer({ min: 0, max: 100_000_000_000 })
  const anyAmount = fc.integer({ min: 1, max: 1_000_000 })
  const anyUnit = fc.constantFrom(...(Object.keys(SMALL) as Unit[]))

  test('is within half a cent of the exact quotient, and rounded up at exactly half', () => {
    fc.assert(
      fc.property(anyPrice, anyAmount, anyUnit, (cents, amount, unit) => {
        const found = priceOf(cents, amount, unit)
        const content = BigInt(amount) * SMALL[unit]
        if (found === null) return
        const measure = BigInt(found.amount) * SMALL[found.unit]
        const twice = 2n * BigInt(found.cents) * content - 2n * BigInt(cents) * measure
        assert.ok(twice <= content && twice > -content, `${found.cents}`)
      }),
    )
  })

  test('is the same whether the content is named in a large or a small unit', () => {
    const units: [Unit, Unit, number][] = [
      ['kg', 'g', 1_000],
      ['l', 'ml', 1_000],
      ['m', 'cm', 100],
      ['m2', 'cm2', 10_000],
    ]
    const fewer = fc.integer({ min: 1, max: 100 })
    fc.assert(
      fc.property(
        anyPrice,
        fewer,
        fc.constantFrom(...units),
        (cents, amount, [big, small, count]) => {
          assert.deepEqual(priceOf(cents, amount, big), priceOf(cents, amount * count, small))
        },
      ),
    )
  })
})
