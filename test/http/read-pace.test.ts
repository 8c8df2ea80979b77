import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
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

  test('that are long count as many, so that a store sends 16 megabytes a second', () => {
    const { pace, count, pass } = openPace(true)
    const MB = 1_048_576
    const send = () => {
      let sent = 0
      for (; count('acme', 1) === 1; sent += 1) pace.addBytes('acme', '/', MB)
      return sent
    }
    send()
    let sent = 0
    for (let n = 0; n < 100; n += 1) {
      pass(100)
      sent += send()
    }
    assert.ok(sent > 145 && sent < 160, `${sent} MB in ten seconds`)
    assert.equal(count('globex', 10_000), 250)
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

  test('from a route wait for their turn as well, however the address is written', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, pass } = openPace(true)
    const read = (url: string, method = 'GET') =>
      pace.guard({ method, url, routeOptions: { url: '/v1/sections' } } as FastifyRequest)
    // Each counts as four answers from memory.
    for (let n = 0; n < 63; n++) await read(`/v1/sections?x=${n}`)
    let answered = 0
    const waiting = ['/v1/sections?x=63', '/v1/sections?x=64'].map(async (url) => {
      await read(url)
      answered += 1
    })
    await read('/v1/sections', 'POST')
    await read('/v1/tenants/acme/catalog/products?limit=1')
    assert.equal(answered, 0)
    pass(8)
    t.mock.timers.tick(20)
    await Promise.race(waiting)
    assert.equal(answered, 1)
    pass(8)
    t.mock.timers.tick(20)
    await Promise.all(waiting)
  })

  test('from a route are refused where too many wait', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, count, pass } = openPace(true)
    count('acme', 250)
    const read = () =>
      pace.guard({ method: 'GET', url: '/v1/tenants/acme/x', routeOptions: {} } as FastifyRequest)
    const waiting = Array.from({ length: 2_000 }, read)
    await assert.rejects(read(), { code: 'service_unavailable' })
    pass(60_000)
    t.mock.timers.tick(20)
    await Promise.race(waiting)
  })
})
