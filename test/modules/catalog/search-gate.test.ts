import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openGate } from '../../../src/modules/catalog/search-gate.ts'

/** Work that ends when it is told to. */
function openWork() {
  const ends: (() => void)[] = []
  const started: string[] = []
  const work = (name: string) => () => {
    started.push(name)
    return new Promise<string>((resolve) => ends.push(() => resolve(name)))
  }
  return { started, work, endOne: () => ends.shift()?.() }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the gate of searches', () => {
  test('lets only so many run, and the stores take turns', async () => {
    const gate = openGate({ running: 2, waiting: 10, waitingPerStore: 5 })
    const { started, work, endOne } = openWork()
    const names = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']
    const all = names.map((name) => gate.pass(name[0] ?? '', work(name)))
    await settle()
    assert.deepEqual(started, ['a1', 'a2'])
    for (let n = 0; n < names.length; n++) {
      endOne()
      await settle()
    }
    assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5'])
    assert.deepEqual(await Promise.all(all), names)
  })

  test('refuses a store with too many waiting, and everyone when all together are too many', async () => {
    const gate = openGate({ running: 1, waiting: 3, waitingPerStore: 2 })
    const { work, endOne } = openWork()
    const pass = (name: string) => gate.pass(name[0] ?? '', work(name))
    const taken = [pass('a1'), pass('a2'), pass('a3')]
    const refused = { code: 'service_unavailable', status: 503, headers: { 'retry-after': '1' } }
    await assert.rejects(pass('a4'), refused)
    taken.push(pass('b1'))
    await assert.rejects(pass('c1'), refused)
    for (const _ of taken) {
      endOne()
      await settle()
    }
    assert.deepEqual(await Promise.all(taken), ['a1', 'a2', 'a3', 'b1'])
  })

  test('goes on after work that failed', async () => {
    const gate = openGate({ running: 1, waiting: 1, waitingPerStore: 1 })
    const failing = gate.pass('a', () => Promise.reject(new Error('no')))
    const next = gate.pass('a', async () => 'yes')
    await assert.rejects(failing, /no/)
    assert.equal(await next, 'yes')
    assert.equal(await gate.pass('a', async () => 'again'), 'again')
  })
})
