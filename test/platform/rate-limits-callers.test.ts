import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { callerOf, createLimits, type Limits } from '../../src/platform/rate-limits.ts'
import type { LimitStore } from '../../src/platform/rate-limits-store.ts'

const perMinute = { my: 20, failed: 5 }
const UNAVAILABLE = {
  code: 'db_error',
  status: 503,
  message: 'rate limiter unavailable. Send the request again after the seconds in `retry-after`.',
}

describe('the counts of callers that a process remembers', () => {
  /** Counters in memory, and how often they were read. */
  function countingStore() {
    const hits = new Map<string, number>()
    const asked: string[] = []
    const store: LimitStore = {
      hit: async (buckets) => {
        const [bucket = ''] = [buckets].flat()
        hits.set(bucket, (hits.get(bucket) ?? 0) + 1)
        return hits.get(bucket) ?? 0
      },
      releaseHit: async (bucket) => {
        hits.set(bucket, (hits.get(bucket) ?? 1) - 1)
      },
      peek: async (bucket) => {
        asked.push(bucket)
        return hits.get(bucket) ?? 0
      },
      ping: async () => {},
      close: async () => {},
    }
    return { store, asked, hits }
  }

  test('refuse a flood from memory, and are read again a second later', async () => {
    const { store, hits } = countingStore()
    let time = 0
    const limits = createLimits({ store, perMinute, clock: { now: () => time } })
    for (let n = 0; n < 20; n++) await limits.countAttempt('a')
    for (let n = 0; n < 500; n++) await assert.rejects(limits.countAttempt('a'), { status: 429 })
    assert.equal(hits.get('my:a'), 21, 'the store heard of one too many, and of no more')
    await limits.countAttempt('b')
    hits.set('my:a', 0)
    time = 1_000
    await limits.countAttempt('a')
  })

  test('a failure that is counted ahead limits attempts at the same time, and is taken back on success', async () => {
    const { store, hits } = countingStore()
    const limits = createLimits({ store, perMinute, clock: { now: () => 0 } })
    const all = await Promise.allSettled(
      Array.from({ length: 50 }, () => limits.countFailureAhead('a')),
    )
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, perMinute.failed)
    for (let n = 0; n < 50; n++) await limits.uncountFailure('a')
    assert.equal(hits.get('failed:a'), 0)
    await limits.countFailureAhead('a')
  })

  test('a failure that is taken back blocks no caller, even if it was the last one allowed', async () => {
    const { store } = countingStore()
    const limits = createLimits({ store, perMinute, clock: { now: () => 0 } })
    for (let n = 1; n < perMinute.failed; n++) await limits.countFailure('a')
    await limits.countFailureAhead('a')
    await assert.rejects(limits.checkFailures('a'), { code: 'rate_limited' })
    await limits.uncountFailure('a')
    await limits.checkFailures('a')
    await limits.countFailure('a')
    await assert.rejects(limits.checkFailures('a'), { code: 'rate_limited' })
  })

  test('are read once a second, also for many requests at the same time', async () => {
    const { store, asked } = countingStore()
    let time = 0
    const limits = createLimits({ store, perMinute, clock: { now: () => time } })
    await Promise.all(Array.from({ length: 50 }, () => limits.checkFailures('a')))
    assert.deepEqual(asked, ['failed:a'])
    time = 1_000
    await limits.checkFailures('a')
    assert.equal(asked.length, 2)
    time = 500
    await limits.checkFailures('a')
    assert.equal(asked.length, 3, 'a clock set back does not lengthen the trust')
  })

  test('are limited in number: the oldest caller is read again', async () => {
    const { store, asked } = countingStore()
    const limits = createLimits({ store, perMinute, clock: { now: () => 0 } })
    for (let n = 0; n <= 10_000; n++) await limits.checkFailures(`caller ${n}`)
    asked.length = 0
    await limits.checkFailures('caller 1')
    await limits.checkFailures('caller 0')
    assert.deepEqual(asked, ['failed:caller 0'])
  })

  test('an older count that arrives late does not hide a failure', async () => {
    const { store } = countingStore()
    const late = Promise.withResolvers<number>()
    const limits = createLimits({
      store: { ...store, peek: () => late.promise },
      perMinute: { ...perMinute, failed: 1 },
      clock: { now: () => 0 },
    })
    const waiting = limits.checkFailures('a')
    await limits.countFailure('a')
    late.resolve(0)
    await assert.rejects(waiting, { code: 'rate_limited' })
    await assert.rejects(limits.checkFailures('a'), { code: 'rate_limited' })
  })

  for (const answer of [Number.NaN, -1, 0.5]) {
    test(`refuse all callers when the counter answers ${answer}`, async () => {
      const store = { ...countingStore().store, hit: async () => answer, peek: async () => answer }
      await refusesAll(createLimits({ store, perMinute }))
    })
  }

  async function refusesAll(limits: Limits) {
    await assert.rejects(limits.countAttempt('a'), UNAVAILABLE)
    await assert.rejects(limits.checkFailures('a'), UNAVAILABLE)
    await assert.rejects(limits.countFailure('a'), UNAVAILABLE)
    await assert.rejects(limits.velocity('a', 9), UNAVAILABLE)
  }
})

describe('callers that are counted together', () => {
  const callers = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::1', '::/64'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::9]:4711, 192.0.2.7', 'unknown'],
    ['', 'unknown'],
    ['192.0.2', 'unknown'],
    ['0x7f.1', 'unknown'],
    ['192.0.2.7, 192.0.2.8', 'unknown'],
  ] as const
  for (const [ip, caller] of callers) {
    test(`${ip || 'no address'} counts as ${caller}`, () => assert.equal(callerOf(ip), caller))
  }
})
