import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  DEFAULT_RULES,
  type Observed,
  type Rules,
  scoreRisk,
} from '../../../src/modules/fraud/score.ts'

/** Facts that may be known of an attempt. */
const observations: Observed[] = [
  { avs: 'N' },
  { cvv: 'N' },
  { velocity: 0.9 },
  { ban: 'review' },
  { fraud_signal: true },
]

const points = fc.integer({ min: 0, max: 200 })
const anyRules: fc.Arbitrary<Rules> = fc.record({
  avs: fc.record({ none: points, partial: points }),
  cvv: points,
  velocity: fc.record({ from: fc.double({ min: 0, max: 1, noNaN: true }), points }),
  ban: fc.record({ review: points, block: points }),
  fraud_signal: points,
  review_from: points,
  reject_from: points,
})

describe('a score', () => {
  test('never falls, and its decision never becomes milder, with one more signal', () => {
    const strictness = ['accepted', 'review', 'rejected']
    const some = fc.subarray(observations)
    fc.assert(
      fc.property(some, fc.constantFrom(...observations), anyRules, (seen, more, rules) => {
        const before = scoreRisk(Object.assign({}, ...seen), rules)
        const after = scoreRisk(Object.assign({}, ...seen, more), rules)
        assert.ok(after.score >= before.score)
        assert.ok(strictness.indexOf(after.decision) >= strictness.indexOf(before.decision))
      }),
    )
  })

  test('is the sum of its signals, which have codes and no personal data', () => {
    const { score: total, signals } = scoreRisk(Object.assign({}, ...observations))
    assert.deepEqual(signals, [
      { signal: 'ban', points: 70, detail: 'review' },
      { signal: 'velocity', points: 10, detail: null },
      { signal: 'avs', points: 25, detail: 'N' },
      { signal: 'cvv', points: 30, detail: 'N' },
      { signal: 'fraud_signal', points: 50, detail: null },
    ])
    assert.equal(total, 185)
  })

  const decided: [string, Observed, string][] = [
    ['nothing', {}, 'accepted'],
    ['a wrong address and a wrong security code', { avs: 'N', cvv: 'N' }, 'accepted'],
    ["those and the gateway's warning", { avs: 'N', cvv: 'N', fraud_signal: true }, 'review'],
    ['a ban that asks for a review', { ban: 'review' }, 'review'],
    ['a ban that blocks', { ban: 'block' }, 'rejected'],
    ['nearly everything', Object.assign({}, ...observations), 'rejected'],
    ['codes without a meaning for fraud', { avs: 'U', cvv: 'P' }, 'accepted'],
  ]
  for (const [what, observed, decision] of decided) {
    test(`a score of ${what} is ${decision} by default`, () => {
      assert.equal(scoreRisk(observed).decision, decision)
    })
  }

  test('follows the given rules', () => {
    const strict = { ...DEFAULT_RULES, cvv: DEFAULT_RULES.reject_from }
    assert.equal(scoreRisk({ cvv: 'N' }, strict).decision, 'rejected')
  })
})
