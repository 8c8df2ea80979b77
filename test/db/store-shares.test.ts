import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { ANONYMOUS, type Caller, StoreShares, type WorkKind } from '../../src/db/store-shares.ts'
import { ApiError } from '../../src/errors.ts'

const key = (name: string): Caller => ({ lane: 'known', name })
const KEY = key('one')

/** Ten connections, and a stopwatch that only the test moves. */
function openShares(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let at = 0
  const shares = new StoreShares({ connections: 10, now: () => at })

  /** Lets time pass: timers fire, and what they start comes to its next wait. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10) {
      at += Math.min(left, 10)
      t.mock.timers.tick(Math.min(left, 10))
      await turn()
    }
  }

  /** Work that ends when the test says so. */
  const begin = (store: string, kind: WorkKind = 'read', caller = KEY) => {
    const held = Promise.withResolvers<void>()
    const work = { isRunning: false, end: held.resolve, done: Promise.resolve() }
    work.done = shares.run({ store, caller }, kind, () => {
      work.isRunning = true
      return held.promise
    })
    work.done.catch(() => {})
    return work
  }

  /** Work that uses the database for a time. */
  const use = async (store: string, ms: number, caller = KEY) => {
    const work = begin(store, 'read', caller)
    await turn()
    await pass(ms)
    work.end()
    await work.done
  }
  return { shares, begin, use, pass }
}

const isOverload = (error: unknown) =>
  error instanceof ApiError && error.code === 'service_unavailable'

describe('the shares of stores', () => {
  test('let a store that is alone use the database without pauses', async (t) => {
    const { begin, use } = openShares(t)
    await use('big', 5_000)
    const next = begin('big')
    await turn()
    assert.ok(next.isRunning)
  })

  test('pace a store that has used 300 ms of the database while another store is at work', async (t) => {
    const { shares, begin, use, pass } = openShares(t)
    // A fifth of it is forgotten meanwhile: 223 ms more than 300 are left.
    await use('big', 650)
    shares.note('small')
    const next = begin('big')
    for (let i = 0; i < 11; i += 1) {
      shares.note('small')
      await pass(100)
    }
    assert.ok(!next.isRunning, 'it waits five times as long as it used too much')
    shares.note('small')
    await pass(150)
    assert.ok(next.isRunning)
  })

  test('run heavy work of one store one by one while another store is at work', async (t) => {
    const { shares, begin, use, pass } = openShares(t)
    for (let i = 0; i < 5; i += 1) await use('big', 400)
    await pass(60_000)
    const running = async () => {
      shares.note('small')
      const works = Array.from({ length: 3 }, () => begin('big'))
      await turn()
      const count = works.filter(({ isRunning }) => isRunning).length
      for (const work of works) work.end()
      await pass(60_000)
      return count
    }
    assert.equal(await running(), 1)
    for (let i = 0; i < 20; i += 1) await use('big', 10)
    await pass(60_000)
    assert.equal(await running(), 3, 'light work may run beside itself')
  })

  test('pace a store for the processor time that it used outside of the database, too', async (t) => {
    const { shares, begin, use, pass } = openShares(t)
    await use('big', 10)
    await pass(60_000)
    shares.addUse({ store: 'big', caller: KEY }, 600)
    shares.note('small')
    const next = begin('big')
    await turn()
    assert.ok(!next.isRunning)
  })

  test('pace a store by the number of its requests, too, however small they are', async (t) => {
    const { shares, begin, use } = openShares(t)
    for (let i = 0; i < 1_001; i += 1) await use('big', 0)
    shares.note('small')
    const next = begin('big')
    await turn()
    assert.ok(!next.isRunning)
  })

  test('know whether another store is at work, and whether any store is', async (t) => {
    const { shares, pass } = openShares(t)
    const seen = () => [null, 'one', 'two'].map((store) => shares.othersAreAtWork(store))
    assert.deepEqual(seen(), [false, false, false])
    shares.note('one')
    assert.deepEqual(seen(), [true, false, true])
    shares.note('two')
    assert.deepEqual(seen(), [true, true, true])
    await pass(1_100)
    assert.deepEqual(seen(), [false, false, false])
  })

  test('end the pause when the other stores are at rest', async (t) => {
    const { shares, begin, use, pass } = openShares(t)
    await use('big', 4_000)
    shares.note('small')
    const next = begin('big')
    await pass(900)
    assert.ok(!next.isRunning)
    await pass(400)
    assert.ok(next.isRunning)
  })

  test('let another store begin at once, however much work of the first store waits', async (t) => {
    const { begin } = openShares(t)
    for (let i = 0; i < 50; i += 1) begin('big')
    const small = begin('small')
    await turn()
    assert.ok(small.isRunning)
  })

  test('give a store three of ten connections for each kind of work, in the order of its requests', async (t) => {
    const { begin } = openShares(t)
    const reads = Array.from({ length: 5 }, () => begin('big'))
    await turn()
    const running = () => reads.map(({ isRunning }) => isRunning)
    assert.deepEqual(running(), [true, true, true, false, false])
    const transaction = begin('big', 'transaction')
    await turn()
    assert.ok(transaction.isRunning, 'a transaction does not wait for reads')
    reads[1]?.end()
    await turn()
    assert.deepEqual(running(), [true, true, true, true, false])
  })

  test('free the connection of work that fails', async (t) => {
    const { shares, begin } = openShares(t)
    const failing = () =>
      shares.run({ store: 'big', caller: KEY }, 'read', () => Promise.reject(new Error('no')))
    for (let i = 0; i < 5; i += 1) await assert.rejects(failing, { message: 'no' })
    const next = begin('big')
    await turn()
    assert.ok(next.isRunning)
  })

  test('refuse work behind five hundred waiting requests, and work that waited for eight seconds', async (t) => {
    const { begin, pass } = openShares(t)
    for (let i = 0; i < 3; i += 1) begin('big')
    const waiting = Array.from({ length: 500 }, () => begin('big'))
    await assert.rejects(begin('big').done, isOverload)
    await pass(8_300)
    for (const { done } of waiting) await assert.rejects(done, isOverload)
  })

  /** How long work of a caller waits while another store is at work all the time. */
  async function waitOf({ shares, begin, pass }: ReturnType<typeof openShares>, caller: Caller) {
    shares.note('small')
    const work = begin('big', 'read', caller)
    let waited = 0
    for (await turn(); !work.isRunning; waited += 50) {
      assert.ok(waited < 60_000)
      shares.note('small')
      await pass(50)
    }
    work.end()
    await work.done
    return waited
  }

  test("keep no caller waiting for more than two seconds because of another caller's use", async (t) => {
    const opened = openShares(t)
    const { shares } = opened
    shares.addUse({ store: 'big', caller: key('heavy') }, 1_000_000)
    const waited = await waitOf(opened, key('light'))
    assert.ok(waited < 2_600, `${waited} ms`)
  })

  test('let the caller who used too much wait longer than the other callers', async (t) => {
    const opened = openShares(t)
    opened.shares.addUse({ store: 'big', caller: key('heavy') }, 1_000_000)
    const waited = await waitOf(opened, key('heavy'))
    assert.ok(waited > 5_500 && waited < 6_600, `${waited} ms`)
  })

  test('keep public reads and keys apart: neither waits for what the other has used', async (t) => {
    for (const [heavy, light] of [
      [KEY, ANONYMOUS],
      [ANONYMOUS, KEY],
    ] as const) {
      const opened = openShares(t)
      opened.shares.addUse({ store: 'big', caller: heavy }, 1_000_000)
      assert.equal(await waitOf(opened, light), 0)
      t.mock.timers.reset()
    }
  })

  test('let a caller who used little go on beside one who uses up the share', async (t) => {
    const opened = openShares(t)
    const flood = { store: 'big', caller: { lane: 'public', name: 'flood' } } as const
    opened.shares.addUse(flood, 301)
    assert.equal(await waitOf(opened, { lane: 'public', name: 'ann' }), 0)
    assert.ok((await waitOf(opened, flood.caller)) > 0)
    // Many such callers together wait, too: the lane has used all that it may owe.
    opened.shares.addUse(flood, 1_000_000)
    assert.ok((await waitOf(opened, { lane: 'public', name: 'bob' })) > 0)
  })

  test('let callers take turns: one with much work waiting goes behind one with little', async (t) => {
    const { shares, begin, pass } = openShares(t)
    const order: string[] = []
    const first = Array.from({ length: 3 }, () => begin('big', 'read', key('busy')))
    const run = (name: string) =>
      shares.run({ store: 'big', caller: key(name) }, 'read', async () => {
        order.push(name)
        await pass(10)
      })
    const works = [...Array.from({ length: 20 }, () => run('busy')), run('calm'), run('calm')]
    await pass(100)
    for (const work of first) work.end()
    await Promise.all(works)
    assert.deepEqual(
      order.slice(0, 3).toSorted(),
      ['busy', 'calm', 'calm'].toSorted(),
      order.join(),
    )
  })

  test('leave a connection to keys however much the public asks for, and one to the public likewise', async (t) => {
    const { begin } = openShares(t)
    for (const [many, one] of [
      [ANONYMOUS, KEY],
      [KEY, ANONYMOUS],
    ] as const) {
      const store = `store of ${one.lane}`
      const works = Array.from({ length: 20 }, () => begin(store, 'read', many))
      const other = begin(store, 'read', one)
      await turn()
      assert.equal(works.filter(({ isRunning }) => isRunning).length, 3)
      assert.ok(other.isRunning)
      assert.ok(!begin(store, 'read', one).isRunning, 'and no more than four in all')
    }
  })

  test('count public requests for unknown stores as one store, which paces no other store', async (t) => {
    const { shares } = openShares(t)
    assert.equal(shares.nameOf('none', ANONYMOUS), shares.nameOf('nothing', ANONYMOUS))
    shares.learn('big')
    assert.equal(shares.nameOf('big', ANONYMOUS), 'big')
    assert.equal(shares.nameOf('new', KEY), 'new')
    shares.learn('suspended')
    shares.forget('suspended')
    assert.equal(shares.nameOf('suspended', ANONYMOUS), shares.nameOf('none', ANONYMOUS))
    await shares.run({ store: 'big', caller: KEY }, 'read', async () => {})
    const none = { store: shares.nameOf('none', ANONYMOUS), caller: ANONYMOUS }
    await shares.run(none, 'read', async () => {})
    assert.ok(!shares.othersAreAtWork('big'))
    assert.ok(shares.othersAreAtWork(none.store))
  })

  test('forget stores that are at rest', async (t) => {
    const { shares, pass } = openShares(t)
    for (let i = 0; i < 3_000; i += 1) {
      await shares.run({ store: `store-${i}`, caller: KEY }, 'read', async () => {})
      if (i % 100 === 0) await pass(10)
    }
    assert.ok(shares.size <= 1_000, `${shares.size}`)
  })
})
