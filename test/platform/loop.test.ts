import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { HOUR_MS } from '../../src/kernel/time.ts'
import { createLogger } from '../../src/platform/log.ts'
import { type LoopOptions, startLoop } from '../../src/platform/loop.ts'
import { until } from '../harness/eventually.ts'

function start(t: TestContext, step: LoopOptions['step'], everyMs = HOUR_MS) {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line: string) => void lines.push(line) })
  const loop = startLoop({ name: 'chores', everyMs, step, logger })
  t.after(() => loop.stop())
  return { loop, lines }
}

describe('a loop', () => {
  test('continues at once while there is work, then waits', async (t) => {
    let left = 5
    let steps = 0
    start(t, async () => {
      steps++
      return left > 0 ? left-- : 0
    })
    await until('the work is done', () => steps === 6)
    await pause(30)
    assert.equal(steps, 6)
  })

  test('looks for work again after a while without being woken', async (t) => {
    let steps = 0
    start(
      t,
      async () => {
        steps++
        return 0
      },
      10,
    )
    await until('it looked three times', () => steps >= 3)
  })

  test('can be woken', async (t) => {
    let steps = 0
    const { loop } = start(t, async () => {
      steps++
      return 0
    })
    await until('it has looked once', () => steps === 1)
    loop.wake()
    await until('it looked again', () => steps === 2)
  })

  test('misses no wake that comes during a step', async (t) => {
    const barrier = Promise.withResolvers<void>()
    let steps = 0
    const { loop } = start(t, async () => {
      steps++
      await barrier.promise
      return 0
    })
    await until('it has begun', () => steps === 1)
    loop.wake()
    barrier.resolve()
    await until('it looked again', () => steps === 2)
  })

  test('never runs two steps at a time, however often it is woken', async (t) => {
    let running = 0
    let steps = 0
    const { loop } = start(t, async () => {
      assert.equal(++running, 1)
      await pause(1)
      running--
      steps++
      return 0
    })
    while (steps < 20) {
      loop.wake()
      await pause(0)
    }
  })

  test('survives a step that fails, logs it, and waits longer each time', async (t) => {
    const at: number[] = []
    const { loop, lines } = start(t, async () => {
      at.push(performance.now())
      if (at.length <= 3) throw new Error('the database is away')
      return 0
    })
    // New work does not shorten the wait after a failure.
    const telling = setInterval(() => at.length <= 3 && loop.wake(), 5)
    t.after(() => clearInterval(telling))
    await until('it is through', () => at.length === 4)
    const waits = at.slice(1).map((each, i) => each - (at[i] ?? 0))
    for (const [i, least] of [95, 195, 395].entries())
      assert.ok((waits[i] ?? 0) >= least, `${waits}`)
    assert.equal(lines.length, 3)
    const first = JSON.parse(lines[0] ?? '')
    assert.deepEqual([first.loop, first.err.message], ['chores', 'the database is away'])
  })

  test('survives a step that throws before its first await', async (t) => {
    let steps = 0
    start(t, () => {
      if (++steps === 1) throw new Error('at once')
      return Promise.resolve(0)
    })
    await until('it looked again', () => steps === 2)
  })
})

describe('stopping a loop', () => {
  test('signals the running step, and waits for it', async (t) => {
    const events: string[] = []
    const { loop } = start(t, async (signal) => {
      events.push('begun')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      await pause(20)
      events.push('leases given back')
      return 1
    })
    await until('it has begun', () => events.length === 1)
    await Promise.all([loop.stop(), loop.stop()])
    events.push('stopped')
    await pause(20)
    assert.deepEqual(events, ['begun', 'leases given back', 'stopped'])
  })

  test('does not wait for the next step or a backoff', async (t) => {
    const begun = performance.now()
    let steps = 0
    const idle = start(t, async () => {
      steps++
      return 0
    })
    const broken = start(t, async () => {
      steps++
      throw new Error('broken')
    })
    await until('both wait', () => steps >= 2)
    await Promise.all([idle.loop.stop(), broken.loop.stop()])
    assert.ok(performance.now() - begun < HOUR_MS / 60)
    const seen = steps
    idle.loop.wake()
    await pause(20)
    assert.equal(steps, seen)
  })
})
