import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { allocate, bpsOf, exactCents, sum, unitShare } from '../../src/kernel/money.ts'

const cents = fc.integer({ min: 0, max: 100_000_000_000 })

describe('a sum', () => {
  const max = Number.MAX_SAFE_INTEGER

  test('is exact or refused, and never rounded', () => {
    assert.equal(sum([max - 2, 1, 1]), max)
    assert.equal(sum([max, -max, 7]), 7)
    assert.equal(sum([]), 0)
    const beyond = [[max, 1], [max, 1, -1], [-max, -1], [2 ** 52, 2 ** 52], [0.5], [Number.NaN]]
    for (const amounts of beyond) assert.throws(() => sum(amounts), RangeError, `${amounts}`)
  })

  test('a sum of numbers above the safe integers is refused if it is no exact number of cents', () => {
    assert.equal(exactCents(BigInt(max)), max)
    assert.equal(exactCents(-BigInt(max)), -max)
    assert.throws(() => exactCents(BigInt(max) + 1n), RangeError)
    assert.throws(() => exactCents(-BigInt(max) - 1n), RangeError)
  })
})

describe('hundredths of a percent', () => {
  const vectors: [cents: number, bps: number, expected: number][] = [
    [1_000, 825, 83],
    [100, 50, 1],
    [100, 49, 0],
    [99, 10_000, 99],
    [1, 5_000, 1],
    [1, 4_999, 0],
    [0, 10_000, 0],
    [100_000_000_000, 9_999, 99_990_000_000],
    [99_999_999_999, 3_333, 33_330_000_000],
  ]
  for (const [amount, bps, expected] of vectors) {
    test(`${bps} of ${amount} is ${expected}`, () => assert.equal(bpsOf(amount, bps), expected))
  }

  test('are exact where a double is not', () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 0, max: 10_000 }), (amount, bps) => {
        const twice = BigInt(bpsOf(amount, bps)) * 20_000n
        const exact = BigInt(amount) * BigInt(bps) * 2n
        assert.ok(twice - exact <= 10_000n && twice - exact > -10_000n)
      }),
    )
  })
})

describe('an amount split by weights', () => {
  const vectors: [cents: number, weights: number[], expected: number[]][] = [
    [100, [1, 1, 1], [34, 33, 33]],
    [200, [1, 1, 1], [67, 67, 66]],
    [10, [3, 0, 7], [3, 0, 7]],
    [1, [1, 2], [0, 1]],
    [5, [1, 1, 8], [1, 0, 4]],
    [0, [0, 0], [0, 0]],
    [0, [], []],
    [100_000_000_000, [99_999_999_999, 1], [99_999_999_999, 1]],
  ]
  for (const [amount, weights, expected] of vectors) {
    test(`an amount of ${amount} is split by ${weights}`, () =>
      assert.deepEqual(allocate(amount, weights), expected))
  }

  test('is split to the cent, fairly, with nothing for a weight of 0', () => {
    const weights = fc.array(cents, { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(cents, weights, (amount, parts) => {
        fc.pre(sum(parts) > 0)
        const shares = allocate(amount, parts)
        assert.equal(sum(shares), amount)
        for (const [index, part] of parts.entries()) {
          const share = shares[index] ?? Number.NaN
          const exact = (BigInt(amount) * BigInt(part)) / BigInt(sum(parts))
          assert.ok(BigInt(share) === exact || BigInt(share) === exact + 1n)
          if (part === 0) assert.equal(share, 0)
          if (amount <= sum(parts)) assert.ok(share <= part)
        }
      }),
    )
  })

  test('gives the cents that are left to the earlier of two equal remainders', () => {
    const few = fc.array(fc.constantFrom(0, 1, 2), { minLength: 2, maxLength: 12 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 500 }), few, (amount, parts) => {
        fc.pre(sum(parts) > 0)
        const shares = allocate(amount, parts)
        for (const [index, part] of parts.entries()) {
          const later = shares.filter((_, at) => at > index && parts[at] === part)
          assert.ok(later.every((share) => share <= (shares[index] ?? 0)))
        }
      }),
    )
  })

  test('cannot be split over weights that are all 0', () => {
    assert.throws(() => allocate(1, []), RangeError)
    assert.throws(() => allocate(1, [0, 0]), RangeError)
  })
})

describe('an amount refunded by units', () => {
  test('gives the last unit what is left', () => {
    const share = (before: number, now: number) => unitShare(200, { all: 3, before, now })
    assert.deepEqual([share(0, 1), share(1, 1), share(2, 1)], [66, 66, 68])
    assert.deepEqual([share(0, 2), share(2, 1), share(0, 3), share(1, 2)], [132, 68, 200, 134])
    assert.deepEqual([share(3, 0), unitShare(0, { all: 0, before: 0, now: 0 })], [0, 0])
  })
})
