import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { notSent, refused, resultOfCode } from '../../../src/modules/payments/gateway.ts'
import { meaningOf } from '../../../src/modules/payments/response-codes.ts'
import {
  classOf,
  DECLINE_RULES,
  type DeclineClass,
} from '../../../src/modules/renewals/decline-rules.ts'
import { planDunning } from '../../../src/modules/renewals/plan-dunning.ts'

describe('the class of a failed renewal', () => {
  test('is stated once for each code, with its source and when that was read', () => {
    const codes = DECLINE_RULES.flatMap((rule) => rule.codes)
    assert.equal(new Set(codes).size, codes.length)
    for (const { source, asOf } of DECLINE_RULES) {
      assert.ok(source.length > 0)
      assert.match(asOf, /^20\d\d-\d\d$/)
    }
  })

  test('never allows a retry that the gateway calls hard', () => {
    const retried: DeclineClass[] = ['soft', 'funds', 'wait', 'unsent']
    for (const code of DECLINE_RULES.flatMap((rule) => rule.codes)) {
      const meaning = meaningOf(code)
      if (meaning.retry_class !== 'hard') continue
      assert.ok(!retried.includes(classOf({ code, ...meaning })), code)
    }
  })

  test('of a code that is not listed is that of its reason', () => {
    assert.equal(classOf(refused('expired_card')), 'hard')
    assert.equal(classOf(refused('processing_error')), 'unsent')
    assert.equal(classOf(resultOfCode('299')), 'soft')
    assert.equal(classOf(notSent()), 'unsent')
    assert.equal(
      classOf({ ...refused('processing_error'), code: null }),
      'soft',
      'an operator has declined it',
    )
    assert.equal(classOf(null), 'unsent', 'the gateway has no record')
  })
})

const CLASSES = fc.constantFrom<DeclineClass>(
  'soft',
  'funds',
  'wait',
  'update',
  'hard',
  'stop',
  'stop_all',
  'unsent',
)

describe('what follows from a failed renewal', () => {
  test('ends after as many declines as the ladder has steps and one more, whatever they are', () => {
    const ladder = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 10 })
    const declines = fc.array(CLASSES, { minLength: 80, maxLength: 80 })
    fc.assert(
      fc.property(ladder, declines, (dunning_delays_days, classes) => {
        let dunning_attempt = 0
        let attempt_count = 0
        for (const declined of classes) {
          attempt_count++
          const plan = planDunning(declined, {
            dunning_attempt,
            dunning_delays_days,
            attempt_count,
          })
          if (plan.kind === 'stop' || plan.kind === 'exhausted') return
          if (plan.kind === 'resend') {
            assert.equal(declined, 'unsent')
            continue
          }
          assert.equal(plan.attempt, dunning_attempt + 1)
          assert.ok(plan.days >= 1)
          if (declined === 'hard') assert.equal(plan.kind, 'await_card')
          // With a hard decline only another card goes on; here it does each time.
          dunning_attempt = plan.attempt
        }
        assert.fail(`goes on after ${classes.length} attempts`)
      }),
    )
  })

  test('is never sooner than the bank has asked for', () => {
    const standing = { dunning_attempt: 0, dunning_delays_days: [1, 5], attempt_count: 1 }
    const plan = planDunning('wait', standing)
    assert.deepEqual(plan.kind === 'retry' && plan.days, 3)
    const later = planDunning('wait', { ...standing, dunning_attempt: 1 })
    assert.deepEqual(later.kind === 'retry' && later.days, 5)
  })

  test('says which attempt is the last', () => {
    const standing = { dunning_delays_days: [1, 3], attempt_count: 1 }
    const first = planDunning('soft', { ...standing, dunning_attempt: 0 })
    const second = planDunning('soft', { ...standing, dunning_attempt: 1 })
    const third = planDunning('soft', { ...standing, dunning_attempt: 2 })
    assert.deepEqual(
      [first, second].map((plan) => plan.kind === 'retry' && plan.isLast),
      [false, true],
    )
    assert.equal(third.kind, 'exhausted')
  })
})
