import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ReadPace } from '../../src/http/read-pace.ts'

/** A pace with a stopwatch that only the test moves. */
function openPace(othersAreAtWork: boolean) {
  let at = 0
  const pace = new ReadPace({ othersAreAtWork: () => othersAreAtWork, now: () => at })
  const count = (store: string, asked: number) =>
    Array.from({ length: asked }, () => pace.take(store, '/')).filter(Boolean).length
  return { pace, count, pass: (ms: number) => (at += ms) }
}

describe('answers from memory', () => {
  test('are not paced for a store that is alone', () => {
    const { count } = openPace(false)
    assert.equal(count('acme', 100_000), 100_000)
  })

  test('are paced while another store is at work: 250 at once, 500 a second', () => {
    const { count, pass } = openPace(true)
    assert.equal(count('acme', 10_000), 250)
    pass(100)
    assert.equal(count('acme', 10_000), 50)
    pass(60_000)
    assert.equal(count('acme', 10_000), 250)
  })

  test('of one store take nothing from another', () => {
    const { count } = openPace(true)
    count('acme', 10_000)
    assert.equal(count('globex', 10_000), 250)
  })

  test('of an address that names no store are paced by themselves', () => {
    const { pace } = openPace(true)
    const count = (address: string) =>
      Array.from({ length: 1_000 }, () => pace.take(null, address)).filter(Boolean).length
    assert.deepEqual([count('/a'), count('/b')], [250, 250])
  })

  test('that wait are called later, two thousand at most', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace } = openPace(true)
    let called = 0
    const defer = () => pace.defer(() => (called += 1))
    assert.equal(Array.from({ length: 3_000 }, defer).filter(Boolean).length, 2_000)
    assert.equal(called, 0)
    t.mock.timers.tick(20)
    assert.equal(called, 2_000)
    assert.equal(defer(), true)
  })

  test('forget stores, however many come', () => {
    const { count } = openPace(true)
    for (let n = 0; n < 5_000; n++) assert.equal(count(`store-${n}`, 1), 1)
  })
})
