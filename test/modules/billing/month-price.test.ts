import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { sum } from '../../../src/kernel/money.ts'
import {
  cutMonth,
  linesOf,
  type MeteredUsage,
  priceOf,
  shareOfDays,
  totalOf,
} from '../../../src/modules/billing/month-price.ts'
import { daysIn, nextMonth } from '../../../src/modules/billing/months.ts'
import type { MeterPrice, Plan } from '../../../src/modules/billing/plan-schema.ts'

const tier = (up_to: number | null, price_cents: number, per = 1) => ({ up_to, price_cents, per })

/** Tiers whose limits grow from what is included. */
const prices: fc.Arbitrary<MeterPrice> = fc
  .record({
    included: fc.nat(50),
    steps: fc.array(fc.record({ by: fc.integer({ min: 1, max: 40 }), cents: fc.nat(500) }), {
      maxLength: 4,
    }),
    last: fc.nat(500),
    per: fc.integer({ min: 1, max: 7 }),
  })
  .map(({ included, steps, last, per }) => {
    const ends = steps.map((_, n) => included + sum(steps.slice(0, n + 1).map(({ by }) => by)))
    const tiers = steps.map(({ cents }, n) => tier(ends[n] ?? null, cents, per))
    return { included, tiers: [...tiers, tier(null, last, per)] }
  })

/** The price of each unit by itself, added up as a fraction: slow, and hard to get wrong. */
function priceUnitByUnit(quantity: number, { included, tiers }: MeterPrice): number {
  const per = BigInt(tiers[0]?.per ?? 1)
  let cents = 0n
  for (let unit = 1; unit <= quantity; unit++) {
    if (unit <= included) continue
    const found = tiers.find(({ up_to }) => up_to === null || unit <= up_to)
    cents += BigInt(found?.price_cents ?? 0)
  }
  const [whole, rest] = [cents / per, cents % per]
  return Number(rest * 2n >= per ? whole + 1n : whole)
}

describe('the price of a quantity', () => {
  test('is the sum of the prices of its units, rounded once', () => {
    fc.assert(
      fc.property(prices, fc.nat(250), (price, quantity) => {
        assert.equal(priceOf(quantity, price), priceUnitByUnit(quantity, price))
      }),
    )
  })

  test('is refused if the sum cannot be counted exactly', () => {
    const dear = { included: 0, tiers: [tier(null, 1_000_000)] }
    assert.equal(priceOf(9_007_199_254, dear), 9_007_199_254_000_000)
    assert.throws(() => priceOf(9_007_199_255, dear), RangeError)
    const whole = { included: 0, tiers: [tier(null, 999_999)] }
    assert.throws(() => priceOf(10_000_000_001, whole), RangeError)
  })

  test('never falls when more is used, and is 0 for what is included', () => {
    fc.assert(
      fc.property(prices, fc.nat(250), fc.nat(50), (price, quantity, more) => {
        assert.ok(priceOf(quantity + more, price) >= priceOf(quantity, price))
        assert.equal(priceOf(Math.min(quantity, price.included), price), 0)
      }),
    )
  })

  test('does not change when a tier is cut into two of the same price', () => {
    fc.assert(
      fc.property(prices, fc.nat(300), fc.integer({ min: 1, max: 99 }), (price, quantity, by) => {
        const before = price.tiers.at(-2)?.up_to ?? price.included
        const last = price.tiers.at(-1) ?? tier(null, 0)
        const cut = [...price.tiers.slice(0, -1), { ...last, up_to: before + by }, last]
        assert.equal(priceOf(quantity, { ...price, tiers: cut }), priceOf(quantity, price))
      }),
    )
  })

  test('rounds half a cent up, over all tiers together', () => {
    const halves = { included: 0, tiers: [tier(1, 1, 2), tier(null, 1, 2)] }
    assert.equal(priceOf(1, halves), 1)
    assert.equal(priceOf(2, halves), 1, 'two halves are one cent, not two')
    assert.equal(priceOf(3, halves), 2)
  })

  test('is exact when the products exceed the safe integers', () => {
    const volume = { included: 0, tiers: [tier(null, 290, 10_000)] }
    assert.equal(priceOf(9_007_199_254_740_000, volume), 261_208_778_387_460)
    const bytes = { included: 0, tiers: [tier(null, 1_000_000, 1_073_741_824)] }
    assert.equal(priceOf(1_000_000_000_000_000, bytes), 931_322_574_615)
  })
})

const plan = (plan_key: string, base_cents: number, meters: Plan['meters'] = {}): Plan => ({
  plan_key,
  version: 1,
  name: plan_key,
  tier: 'standard',
  currency: 'USD',
  base_cents,
  meters,
  features: [],
  is_public: true,
  created_at: '2032-01-01T00:00:00.000Z',
})

const FREE = plan('default', 0)

const used = (orders: number): MeteredUsage => {
  const none = { quantity: 0, from_position: null, to_position: null }
  return {
    orders: { quantity: orders, from_position: 1, to_position: 9 },
    gross_volume: none,
    webhook_deliveries: none,
    media_bytes: none,
    api_calls: none,
  }
}

const months = fc
  .record({ year: fc.integer({ min: 2024, max: 2040 }), at: fc.integer({ min: 1, max: 12 }) })
  .map(({ year, at }) => `${year}-${String(at).padStart(2, '0')}-01`)

describe('a month of several plans', () => {
  test('has parts that add up to the base, wherever the month is divided', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), months, fc.array(fc.nat(30)), (cents, month, cuts) => {
        const days = daysIn(month)
        const ends = [...cuts.filter((cut) => cut < days), days].toSorted((a, b) => a - b)
        const parts = ends.map((to, i) => shareOfDays(cents, { from: ends[i - 1] ?? 0, to, days }))
        assert.equal(sum(parts), cents)
        assert.ok(parts.every((part) => part >= 0))
      }),
    )
  })

  test('costs the base once when a store is given its own plan again, any number of times', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.array(fc.integer({ min: 1, max: 31 })), (cents, days) => {
        const same = plan('pro', cents)
        const changes = days
          .toSorted((a, b) => a - b)
          .map((day) => ({ from_day: `2032-01-${String(day).padStart(2, '0')}`, plan: same }))
        const plans = [{ from_day: '2031-12-05', plan: same }, ...changes]
        const lines = linesOf('2032-01-01', cutMonth('2032-01-01', plans, FREE), used(0))
        assert.equal(totalOf(lines), cents)
      }),
    )
  })

  test('bills a plan from its first day on, and usage by the plan of the last day', () => {
    const orders = { included: 0, tiers: [tier(null, 10)] }
    const plans = [
      { from_day: '2032-01-10', plan: plan('small', 3_100) },
      { from_day: '2032-01-21', plan: plan('large', 6_200, { orders }) },
    ]
    const lines = linesOf('2032-01-01', cutMonth('2032-01-01', plans, FREE), used(7))
    assert.deepEqual(
      lines.map(({ plan_key, meter, from_day, to_day, amount_cents }) => [
        plan_key,
        meter ?? `${from_day} ${to_day}`,
        amount_cents,
      ]),
      [
        ['small', '2032-01-10 2032-01-20', 1_100],
        ['large', '2032-01-21 2032-01-31', 2_200],
        ['large', 'orders', 70],
      ],
    )
    const next = linesOf('2032-02-01', cutMonth('2032-02-01', plans, FREE), used(0))
    assert.equal(totalOf(next), 6_200, 'the whole base in a month of 29 days')
  })

  test('counts the later of two plans that begin on one day', () => {
    const plans = [
      { from_day: '2032-01-01', plan: plan('first', 1_000) },
      { from_day: '2032-01-16', plan: plan('slip', 99_999) },
      { from_day: '2032-01-16', plan: plan('meant', 2_000) },
    ]
    const keys = cutMonth('2032-01-01', plans, FREE).map((part) => part.plan.plan_key)
    assert.deepEqual(keys, ['first', 'meant'])
  })

  test('owes nothing for a volume below zero', () => {
    const meters = { gross_volume: { included: 0, tiers: [tier(null, 1, 100)] } }
    const usage = { ...used(0), gross_volume: { quantity: -500, from_position: 1, to_position: 2 } }
    const segments = [{ plan: plan('pro', 0, meters), from: 0, to: 31 }]
    const [line] = linesOf('2032-01-01', segments, usage)
    assert.deepEqual([line?.quantity, line?.amount_cents], [0, 0])
  })
})

test('months follow each other over the end of a year, and know February', () => {
  assert.equal(nextMonth('2031-12-01'), '2032-01-01')
  assert.deepEqual([daysIn('2032-02-01'), daysIn('2031-02-01')], [29, 28])
})
