import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCallerQueues } from '../../../src/modules/provider-events/caller-queues.ts'

/** Work that ends on command, and the number of running pieces. */
function openWork() {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => ends.push(resolve))
  const endAll = async () => {
    while (ends.length > 0) {
      ends.shift()?.()
      await settle()
    }
  }
  return { work, endAll, running: () => ends.length }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the requests of a caller that has failed', () => {
  test("run one at a time for a minute, while other callers' requests run in parallel", async () => {
    let now = 0
    const queues = createCallerQueues({ now: () => now })
    const { work, endAll, running } = openWork()
    queues.markFailed('bad')
    const bad = [queues.run('bad', work), queues.run('bad', work)]
    assert.equal(running(), 1)
    const good = [queues.run('good', work), queues.run('good', work)]
    assert.equal(running(), 3)
    await endAll()
    await Promise.all([...bad, ...good])
    now = 60_000
    const later = [queues.run('bad', work), queues.run('bad', work)]
    assert.equal(running(), 2)
    await endAll()
    await Promise.all(later)
  })

  test('still run one at a time after the minute while one of them is under way', async () => {
    let now = 0
    const queues = createCallerQueues({ now: () => now })
    const { work, endAll, running } = openWork()
    queues.markFailed('bad')
    const first = queues.run('bad', work)
    now = 60_000
    const second = queues.run('bad', work)
    await settle()
    assert.equal(running(), 1)
    await endAll()
    await Promise.all([first, second])
  })

  test('are refused when too many wait', async () => {
    const queues = createCallerQueues({ now: () => 0 })
    const { work, endAll } = openWork()
    queues.markFailed('bad')
    const taken = Array.from({ length: 101 }, () => queues.run('bad', work))
    const refused = { code: 'rate_limited', status: 429, headers: { 'retry-after': '1' } }
    await assert.rejects(queues.run('bad', work), refused)
    await endAll()
    await Promise.all(taken)
  })
})
