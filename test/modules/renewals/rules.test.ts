import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ADAPTERS } from '../../../src/modules/payments/adapters/all.ts'
import type { Meaning } from '../../../src/modules/payments/adapters/meanings.ts'
import { NMI_VOCABULARY } from '../../../src/modules/payments/adapters/nmi/meanings.ts'
import { notSent, refused, resultOf } from '../../../src/modules/payments/adapters/results.ts'
import {
  ADVICE_RULES,
  adviceDays,
  classOf,
  type DeclineClass,
} from '../../../src/modules/renewals/decline-rules.ts'
import { planDunning } from '../../../src/modules/renewals/plan-dunning.ts'

const REFUSED = { code: '300' }

describe('the class of a failed renewal', () => {
  test("names the source of each network's advice, and when that source was read", () => {
    const codes = ADVICE_RULES.flatMap((rule) => rule.codes)
    assert.equal(new Set(codes).size, codes.length)
    for (const { source, asOf } of ADVICE_RULES) {
      assert.ok(source.length > 0)
      assert.match(asOf, /^20\d\d-\d\d$/)
    }
  })

  test("is the stricter of the gateway's and the network's class", () => {
    const advised = (meaning: Meaning, advice_code: string) =>
      classOf(resultOf(meaning, { code: 'any', advice_code }))
    assert.equal(advised('declined', '03'), 'hard')
    assert.equal(advised('declined', '21'), 'stop')
    assert.equal(advised('insufficient_funds', '01'), 'update')
    assert.equal(advised('card_misused', '02'), 'hard', 'a friendly advice opens no hard decline')
    assert.equal(advised('all_agreements_ended', '21'), 'stop_all')
    assert.equal(advised('declined', '27'), 'funds')
    assert.equal(advised('declined', '99'), 'soft', 'an advice that is not listed says nothing')
    assert.equal(advised('unavailable', '03'), 'unsent', 'no bank was asked')
  })

  test('allows no retry of a decline that the gateway calls hard', () => {
    const retried: DeclineClass[] = ['soft', 'funds', 'wait', 'unsent']
    for (const { means } of ADAPTERS.flatMap(({ meanings }) => meanings)) {
      const result = resultOf(means, { code: 'any' })
      if (result.retry_class !== 'hard') continue
      assert.ok(!retried.includes(classOf(result)), means)
    }
  })

  test('is that of the reason, also if the gateway itself refuses', () => {
    assert.equal(classOf(refused('expired_card', REFUSED)), 'hard')
    assert.equal(classOf(refused('processing_error', REFUSED)), 'unsent')
    assert.equal(classOf(refused('amount_exceeded', REFUSED)), 'soft')
    assert.equal(classOf(notSent()), 'unsent')
    assert.equal(classOf(refused('processing_error')), 'soft', 'an operator has declined it')
    assert.equal(classOf(null), 'unsent', 'the gateway has no record')
  })

  test('is the same for each code of NMI as it was when earlier rows were stored', () => {
    const before: Record<DeclineClass, string[]> = {
      soft: ['200', '201', '240', '260', '299'],
      funds: ['202', '203'],
      wait: ['264'],
      update: ['263'],
      hard: '204 220 221 222 223 224 225 250 251 252 253 461'.split(' '),
      stop: ['262'],
      stop_all: ['261'],
      unsent: '300 350 400 410 411 420 421 430 440 441 460'.split(' '),
    }
    for (const [expected, codes] of Object.entries(before)) {
      for (const code of codes) {
        const result = resultOf(NMI_VOCABULARY.meaningOf(code), { code })
        assert.equal(classOf(result), expected, code)
        // A row of an attempt keeps these three members of the result.
        const { reason, fraud_signal } = result
        assert.equal(classOf({ code, reason, fraud_signal, retryable: false }), expected, code)
      }
    }
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
  test('ends after one decline more than the ladder has steps, whatever the declines are', () => {
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
