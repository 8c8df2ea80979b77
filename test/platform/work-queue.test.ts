import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../../src/errors.ts'
import { WorkQueue } from '../../src/platform/work-queue.ts'

/** Work that ends when it is told to. */
function openWork() {
  const ends: (() => void)[] = []
  const started: string[] = []
  const work = (name: string) => () => {
    started.push(name)
    return new Promise<string>((resolve) => ends.push(() => resolve(name)))
  }
  const endOne = () => {
    ends.shift()?.()
    return settle()
  }
  return { started, work, endOne }
}

function openSignal() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort(new Error('gone')) }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

const storeOf = (name: string) => name[0] ?? ''

describe('a work queue', () => {
  test('runs a limited number of jobs at a time, and the stores take turns', async () => {
    const queue = new WorkQueue({ running: 2, waiting: 10, waitingPerStore: 5 })
    const { started, work, endOne } = openWork()
    const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']
    const all = names.map((name) => queue.run(work(name), storeOf(name)))
    await settle()
    assert.deepEqual(started, ['a1', 'a2'])
    assert.equal(queue.waiting, 6)
    for (const _ of names) await endOne()
    assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
    assert.deepEqual(await Promise.all(all), names)
    assert.equal(queue.waiting, 0)
    assert.ok(queue.isIdle)
  })

  test('runs work without a store in the order in which it came', async () => {
    const queue = new WorkQueue({ running: 1, waiting: 4, waitingPerStore: 1 })
    const { started, work, endOne } = openWork()
    const names = ['first', 'second', 'third', 'fourth']
    const all = names.map((name) => queue.run(work(name)))
    for (const _ of names) await endOne()
    assert.deepEqual(started, names)
    await Promise.all(all)
  })

  test('refuses a store with too much waiting, and all stores when too much waits', async () => {
    const queue = new WorkQueue({ running: 1, waiting: 3, waitingPerStore: 2 })
    const { work, endOne } = openWork()
    const run = (name: string) => queue.run(work(name), storeOf(name))
    const accepted = [run('a1'), run('a2'), run('a3')]
    const refused = { code: 'service_unavailable', status: 503, kind: 'overload' }
    await assert.rejects(run('a4'), refused)
    accepted.push(run('b1'))
    await assert.rejects(run('c1'), refused)
    await assert.rejects(queue.run(work('no store')), refused)
    await endOne()
    accepted.push(run('c2'))
    for (const _ of accepted) await endOne()
    assert.deepEqual(await Promise.all(accepted), ['a1', 'a2', 'a3', 'b1', 'c2'])
  })

  test('refuses with the error of its owner, which explains why', async () => {
    const refuse = (cause: Error) => new ApiError('rate_limited', { cause })
    const queue = new WorkQueue({ running: 1, waiting: 2, waitingPerStore: 1, refuse })
    const { work, endOne } = openWork()
    const accepted = [queue.run(work('a1'), 'a'), queue.run(work('a2'), 'a')]
    const causeOf = (error: unknown) => String((error as Error).cause)
    await assert.rejects(queue.run(work('a3'), 'a'), (error) => /one store/.test(causeOf(error)))
    accepted.push(queue.run(work('b1'), 'b'))
    await assert.rejects(queue.run(work('c1'), 'c'), { code: 'rate_limited' })
    for (const _ of accepted) await endOne()
    await Promise.all(accepted)
  })

  test('frees the slot of work that failed', async () => {
    const queue = new WorkQueue({ running: 1, waiting: 2 })
    const failing = queue.run(() => Promise.reject(new Error('no')))
    const throwing = queue.run(() => {
      throw new Error('not even begun')
    })
    const next = queue.run(async () => 'yes')
    await assert.rejects(failing, /no/)
    await assert.rejects(throwing, /not even begun/)
    assert.equal(await next, 'yes')
    assert.ok(queue.isIdle)
    assert.equal(await queue.run(async () => 'again'), 'again')
  })

  test('rejects all waiting work when it is told to, and lets running work end', async () => {
    const queue = new WorkQueue({ running: 1, waiting: 2 })
    const { started, work, endOne } = openWork()
    const running = queue.run(work('running'), 'a')
    const waiting = [queue.run(work('a'), 'a'), queue.run(work('b'), 'b')]
    queue.rejectWaiting(new Error('closed'))
    for (const each of waiting) await assert.rejects(each, /closed/)
    assert.equal(queue.waiting, 0)
    const later = queue.run(work('later'), 'b')
    await endOne()
    await endOne()
    assert.deepEqual(await Promise.all([running, later]), ['running', 'later'])
    assert.deepEqual(started, ['running', 'later'])
    assert.ok(queue.isIdle)
  })

  test('leaves a slot to other stores if one store may not have all', async () => {
    const queue = new WorkQueue({ running: 2, runningPerStore: 1, waiting: 10 })
    const { started, work, endOne } = openWork()
    const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) =>
      queue.run(work(name), storeOf(name)),
    )
    await settle()
    assert.deepEqual(started, ['a1', 'b1'])
    assert.deepEqual([queue.waitingOf('a'), queue.waitingOf('b'), queue.waitingOf('c')], [2, 1, 1])
    await endOne()
    assert.deepEqual(started, ['a1', 'b1', 'a2'])
    await endOne()
    assert.deepEqual(started, ['a1', 'b1', 'a2', 'b2'])
    for (let left = 4; left > 0; left -= 1) await endOne()
    assert.deepEqual(started, ['a1', 'b1', 'a2', 'b2', 'c1', 'a3'])
    await Promise.all(all)
    assert.ok(queue.isIdle)
  })

  test('ends the wait of work whose signal is aborted, and of no other work', async () => {
    const queue = new WorkQueue({ running: 1, waiting: 3 })
    const { started, work, endOne } = openWork()
    const { signal, abort } = openSignal()
    const running = queue.run(work('a1'), 'a', signal)
    const leaving = queue.run(work('a2'), 'a', signal)
    const staying = queue.run(work('a3'), 'a')
    abort()
    await assert.rejects(leaving, /gone/)
    await assert.rejects(queue.run(work('a4'), 'a', signal), /gone/)
    assert.equal(queue.waiting, 1)
    await endOne()
    await endOne()
    assert.deepEqual(await Promise.all([running, staying]), ['a1', 'a3'])
    assert.deepEqual(started, ['a1', 'a3'])
    assert.ok(queue.isIdle)
  })
})
