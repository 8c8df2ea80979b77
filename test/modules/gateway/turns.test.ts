import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTurns } from '../../../src/modules/gateway/turns.ts'

/** Work that ends when it is told to, and how much of it runs. */
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
  test('run one at a time for a minute, while those of others run at once', async () => {
    let now = 0
    const turns = createTurns({ now: () => now })
    const { work, endAll, running } = openWork()
    turns.suspect('bad')
    const bad = [turns.take('bad', work), turns.take('bad', work)]
    assert.equal(running(), 1)
    const good = [turns.take('good', work), turns.take('good', work)]
    assert.equal(running(), 3)
    await endAll()
    await Promise.all([...bad, ...good])
    now = 60_000
    const later = [turns.take('bad', work), turns.take('bad', work)]
    assert.equal(running(), 2)
    await endAll()
    await Promise.all(later)
  })

  test('go on one at a time after the minute, as long as one is under way', async () => {
    let now = 0
    const turns = createTurns({ now: () => now })
    const { work, endAll, running } = openWork()
    turns.suspect('bad')
    const first = turns.take('bad', work)
    now = 60_000
    const second = turns.take('bad', work)
    await settle()
    assert.equal(running(), 1)
    await endAll()
    await Promise.all([first, second])
  })

  test('are refused when too many wait', async () => {
    const turns = createTurns({ now: () => 0 })
    const { work, endAll } = openWork()
    turns.suspect('bad')
    const taken = Array.from({ length: 101 }, () => turns.take('bad', work))
    const refused = { code: 'rate_limited', status: 429, headers: { 'retry-after': '1' } }
    await assert.rejects(turns.take('bad', work), refused)
    await endAll()
    await Promise.all(taken)
  })
})
