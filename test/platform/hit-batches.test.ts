import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { batchHits } from '../../src/platform/hit-batches.ts'
import { until } from '../harness/eventually.ts'

const DEADLINE_MS = 60_000

/** Counters in memory that answer when they are told to, and note each of their calls. */
function openCounters(deadlineMs = DEADLINE_MS) {
  const totals = new Map<string, number>()
  const calls: { size: number; end: (error?: Error) => void }[] = []
  const count = batchHits((hits) => {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, number>>()
    const end = (error?: Error) => {
      if (error !== undefined) return reject(error)
      for (const { bucket, weight } of hits) totals.set(bucket, (totals.get(bucket) ?? 0) + weight)
      resolve(new Map(hits.map(({ bucket }) => [bucket, totals.get(bucket) ?? 0])))
    }
    calls.push({ size: hits.length, end })
    return promise
  }, deadlineMs)
  return { count, calls }
}

describe('hits at the same time', () => {
  test('are counted by two statements, and each caller gets its own number', async () => {
    const { count, calls } = openCounters()
    const answers = Array.from({ length: 100 }, (_, at) =>
      count({ buckets: ['all', `only-${at}`], weight: 1, windowSeconds: 60 }),
    )
    calls[0]?.end()
    assert.equal(await answers[0], 1)
    calls[1]?.end()
    assert.deepEqual(
      await Promise.all(answers),
      answers.map((_, at) => at + 1),
    )
    assert.deepEqual(
      calls.map(({ size }) => size),
      [2, 100],
    )
  })

  test('count once in a bucket that one call names twice, each with its own weight', async () => {
    const { count, calls } = openCounters()
    const answers = [5, 7, 11].map((weight) =>
      count({ buckets: ['a', 'a'], weight, windowSeconds: 60 }),
    )
    calls[0]?.end()
    assert.equal(await answers[0], 5)
    calls[1]?.end()
    assert.deepEqual(await Promise.all(answers), [5, 12, 23])
  })

  test('hits at the same time that fail refuse their own callers, and the next hits are counted', async () => {
    const { count, calls } = openCounters()
    const first = count({ buckets: ['a'], weight: 1, windowSeconds: 60 })
    const second = count({ buckets: ['a'], weight: 1, windowSeconds: 60 })
    calls[0]?.end(new Error('lost'))
    await assert.rejects(first, /lost/)
    calls[1]?.end()
    assert.equal(await second, 1)
  })

  test('hits at the same time that wait too long are refused alone, and later ones are not', async () => {
    const { count, calls } = openCounters(300)
    const hit = (bucket: string) => count({ buckets: [bucket], weight: 1, windowSeconds: 60 })
    const slow = assert.rejects(hit('a'), /in time/)
    const waiting = assert.rejects(hit('b'), /in time/)
    await Promise.all([slow, waiting])
    const next = hit('c')
    calls[0]?.end()
    await until('the next batch is sent', async () => calls.length === 2)
    assert.equal(calls[1]?.size, 1, 'the refused one is not counted')
    calls[1]?.end()
    assert.equal(await next, 1)
  })

  test('are refused beyond a thousand waiting ones', async () => {
    const { count, calls } = openCounters()
    const hit = { buckets: ['a'], weight: 1, windowSeconds: 60 }
    const answers = Array.from({ length: 1_001 }, () => count(hit))
    await assert.rejects(count(hit), /too many calls/)
    calls[0]?.end()
    await answers[0]
    calls[1]?.end()
    assert.equal(await answers.at(-1), 1_001)
  })
})
