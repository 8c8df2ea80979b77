import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { notSent, refused, resultOfCode } from '../../../src/modules/payments/gateway.ts'
import { meaningOf } from '../../../src/modules/payments/response-codes.ts'
import {
  ADVICE_RULES,
  adviceDays,
  classOf,
  DECLINE_RULES,
  type DeclineClass,
} from '../../../src/modules/renewals/decline-rules.ts'
import { planDunning } from '../../../src/modules/renewals/plan-dunning.ts'

describe('the class of a failed renewal', () => {
  test('is stated once for each code, with its source and when that was read', () => {
    for (const rules of [DECLINE_RULES, ADVICE_RULES]) {
      const codes = rules.flatMap((rule) => rule.codes)
      assert.equal(new Set(codes).size, codes.length)
      for (const { source, asOf } of rules) {
        assert.ok(source.length > 0)
        assert.match(asOf, /^20\d\d-\d\d$/)
      }
    }
  })

  test('is the stricter one of what the gateway and the network say', () => {
    const advised = (code: string, advice_code: string) =>
      classOf(resultOfCode(code, { advice_code }))
    assert.equal(advised('200', '03'), 'hard')
    assert.equal(advised('200', '21'), 'stop')
    assert.equal(advised('202', '01'), 'update')
    assert.equal(advised('250', '02'), 'hard', 'a friendly advice opens no hard decline')
    assert.equal(advised('261', '21'), 'stop_all')
    assert.equal(advised('200', '27'), 'funds')
    assert.equal(advised('200', '99'), 'soft', 'an advice that is not listed says nothing')
    assert.equal(advised('400', '03'), 'unsent', 'no bank was asked')
  })

  test('never allows a retry that the gateway calls hard', () => {
    const retried: DeclineClass[] = ['soft', 'funds', 'wait', 'unsent']
    for (const code of DECLINE_RULES.flatMap((rule) => rule.codes)) {
      const meaning = meaningOf(code)
      if (meaning.retry_class !== 'hard') continue
      assert.ok(!retried.includes(classOf({ code, ...meaning })), code)
    }
  })

  test('the class of a failed renewal with a code that is not listed is that of its reason', () => {
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
    for (const [advice_code, days] of [
      ['24', 1],
      ['26', 2],
      ['27', 4],
      ['30', 10],
      ['02', 1],
    ] as const) {
      const advised = planDunning('funds', standing, adviceDays({ advice_code }))
      assert.equal(advised.kind === 'retry' && advised.days, days, advice_code)
    }
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
