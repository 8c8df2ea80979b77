import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { ReadPace } from '../../src/http/read-pace.ts'

/** A pace with a stopwatch that only the test moves. Each request says itself who sends it. */
function openPace(othersAreAtWork: boolean) {
  let at = 0
  const pace = new ReadPace({
    othersAreAtWork: () => othersAreAtWork,
    isKnown: (store) => !store.startsWith('none'),
    readerOf: ({ headers }) => ({ name: String(headers.from ?? 'a browser'), waitingMax: 20 }),
    now: () => at,
  })
  const count = (store: string, asked: number) =>
    Array.from({ length: asked }, () => pace.take(store, '/')).filter(Boolean).length
  return { pace, count, pass: (ms: number) => (at += ms) }
}

const from = (name: string) => ({ headers: { from: name } }) as unknown as IncomingMessage

/** A routed read of a caller, and what became of it. */
function readBy(
  pace: ReadPace,
  name: string,
  url = '/v1/tenants/acme/catalog/products/x',
  method = 'GET',
) {
  const request = { method, url, routeOptions: { url: '/v1/x' }, raw: from(name) } as FastifyRequest
  const read = { name, state: 'waits', end: () => request.leavePace?.() }
  const done = pace.guard(request).then(
    () => {
      read.state = 'runs'
    },
    (error: { code: string }) => {
      read.state = error.code
    },
  )
  return Object.assign(read, { done })
}

describe('answers from memory', () => {
  test('are sent at once for a store that is alone', () => {
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

  test('long answers from memory count several times, so that a store sends at most 16 megabytes a second', () => {
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

  test('answers from memory of one store do not slow those of another', () => {
    const { count } = openPace(true)
    count('acme', 10_000)
    assert.equal(count('globex', 10_000), 250)
  })

  test('answers from memory for an address of no store are paced apart from all stores', () => {
    const { pace } = openPace(true)
    const count = (address: string) =>
      Array.from({ length: 1_000 }, () => pace.take(null, address)).filter(Boolean).length
    assert.deepEqual([count('/a'), count('/b')], [250, 250])
  })

  test('answers from memory that wait are sent in turn: each caller gets one after the other', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, count, pass } = openPace(true)
    count('acme', 250)
    const sent: string[] = []
    const wait = (name: string) =>
      pace.defer({ store: 'acme', address: '/' }, from(name), {
        start: () => sent.push(name),
        reject: ({ code }) => sent.push(code),
      })
    for (let n = 0; n < 20; n++) wait('flood')
    wait('ann')
    wait('bob')
    assert.equal(count('acme', 1), 0, 'a later read does not overtake those that wait')
    pass(8)
    t.mock.timers.tick(20)
    assert.deepEqual(sent, ['flood', 'ann', 'bob', 'flood'])
    pass(60_000)
    t.mock.timers.tick(20)
    assert.equal(
      sent.filter((each) => each === 'service_unavailable').length,
      18,
      'waited too long',
    )
  })

  test('answers from memory that wait too long are refused in time, also while the store may send nothing', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, count, pass } = openPace(true)
    count('acme', 250)
    const MINUTES_OF_BYTES = 2_000 * 1_048_576
    pace.addBytes('acme', '/', MINUTES_OF_BYTES)
    const refused: (string | undefined)[] = []
    const wait = (name: string) =>
      pace.defer({ store: 'acme', address: '/' }, from(name), {
        start: () => refused.push(undefined),
        reject: ({ code, headers }) => refused.push(`${code} ${headers['retry-after']}`),
      })
    for (const name of ['ann', 'ann', 'bob']) wait(name)
    pass(5_000)
    wait('ann')
    pass(3_001)
    t.mock.timers.tick(20)
    assert.deepEqual(refused, Array(3).fill('service_unavailable 1'))
    pass(5_000)
    t.mock.timers.tick(20)
    assert.equal(refused.length, 4)
  })

  test('are refused with 429 to a caller who has twenty waiting, and to no other caller', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, count, pass } = openPace(true)
    count('acme', 250)
    const codes: string[] = []
    const wait = (name: string) =>
      pace.defer({ store: 'acme', address: '/' }, from(name), {
        start: () => codes.push(name),
        reject: ({ code }) => codes.push(code),
      })
    for (let n = 0; n < 22; n++) wait('flood')
    t.mock.timers.tick(40)
    assert.deepEqual(codes, ['rate_limited', 'rate_limited'])
    wait('ann')
    pass(200)
    t.mock.timers.tick(20)
    assert.ok(codes.includes('ann'))
    wait('flood')
    assert.equal(codes.filter((each) => each === 'rate_limited').length, 2, 'none waits any more')
  })

  test('are refused to a caller one after the other, fifty a second, and no later than after two seconds', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, count, pass } = openPace(true)
    count('acme', 250)
    let refused = 0
    const wait = (name: string) =>
      pace.defer({ store: 'acme', address: '/' }, from(name), {
        start: () => {},
        reject: ({ code }) => {
          if (code === 'rate_limited') refused += 1
        },
      })
    const tick = (ms: number) => {
      pass(ms)
      t.mock.timers.tick(ms)
    }
    for (let n = 0; n < 520; n++) wait('flood')
    assert.equal(refused, 0)
    tick(20)
    assert.equal(refused, 1)
    for (let n = 0; n < 21; n++) wait('another flood')
    tick(20)
    assert.equal(refused, 3, 'each caller waits for their own refusals')
    for (let n = 0; n < 98; n++) tick(20)
    assert.equal(refused, 501)
  })

  test('wait in bounded numbers: five hundred for one store, two thousand in all', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace } = openPace(true)
    const codes: string[] = []
    const wait = (store: string, n: number) =>
      pace.defer({ store, address: '/' }, from(`caller ${n}`), {
        start: () => {},
        reject: ({ code }) => codes.push(code),
      })
    for (let n = 0; n < 600; n++) wait('acme', n)
    assert.deepEqual([codes.length, codes[0]], [100, 'service_unavailable'])
    for (let n = 0; n < 3_000; n++) wait(`store-${n}`, n)
    assert.equal(codes.length, 100 + 1_500)
  })

  test('forget idle stores, however many there were', () => {
    const { count } = openPace(true)
    for (let n = 0; n < 5_000; n++) assert.equal(count(`store-${n}`, 1), 1)
  })

  test('answers of a route wait for their turn as well, however the address is written', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, pass } = openPace(true)
    // Each counts as four answers from memory.
    for (let n = 0; n < 63; n++) {
      const read = readBy(pace, 'ann', `/v1/sections?x=${n}`)
      await read.done
      read.end()
    }
    const waiting = [readBy(pace, 'ann', '/v1/sections?x=63'), readBy(pace, 'ann', '/v1/sections')]
    const post = readBy(pace, 'ann', '/v1/sections', 'POST')
    const other = readBy(pace, 'ann')
    await Promise.all([post.done, other.done])
    assert.deepEqual([post.state, other.state], ['runs', 'runs'])
    assert.deepEqual(
      waiting.map(({ state }) => state),
      ['waits', 'waits'],
    )
    pass(8)
    t.mock.timers.tick(20)
    await waiting[0]?.done
    assert.deepEqual(
      waiting.map(({ state }) => state),
      ['runs', 'waits'],
    )
    pass(8)
    t.mock.timers.tick(20)
    await waiting[1]?.done
  })

  test('answers of a route run six at a time, four of them for one caller, and their callers take turns', async () => {
    const { pace } = openPace(false)
    const running = () => [...flood, ...others].filter(({ state }) => state === 'runs')
    const flood = Array.from({ length: 24 }, () => readBy(pace, 'flood'))
    const others: ReturnType<typeof readBy>[] = []
    await Promise.all(flood.slice(0, 4).map(({ done }) => done))
    assert.equal(running().length, 4)
    for (const name of ['ann', 'bob', 'cleo']) others.push(readBy(pace, name))
    await Promise.all(others.slice(0, 2).map(({ done }) => done))
    assert.equal(running().length, 6)
    flood[0]?.end()
    await flood[4]?.done
    flood[1]?.end()
    await others[2]?.done
    assert.equal(others[2]?.state, 'runs')
    assert.equal(running().length, 8, 'six, and two that have ended')
    for (const read of [...others, ...flood]) {
      read.end()
      await read.done
      read.end()
    }
  })

  test('pictures of one store take no turn from those of another', async () => {
    const { pace } = openPace(false)
    const picture = (store: string) => readBy(pace, 'ann', `/stores/${store}/assets/x.png`)
    const flood = Array.from({ length: 10 }, () => picture('acme'))
    const other = picture('globex')
    await Promise.all([other, ...flood.slice(0, 4)].map(({ done }) => done))
    assert.equal(other.state, 'runs')
    assert.equal(flood.filter(({ state }) => state === 'runs').length, 4)
    for (const read of [other, ...flood]) {
      read.end()
      await read.done
      read.end()
    }
  })

  test('answers of a route that wait too long are refused, while the running ones finish', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { pace, pass } = openPace(false)
    const slow = Array.from({ length: 6 }, (_, n) => readBy(pace, `slow ${n % 2}`))
    await Promise.all(slow.map(({ done }) => done))
    const late = readBy(pace, 'ann')
    pass(8_001)
    t.mock.timers.tick(20)
    await late.done
    assert.equal(late.state, 'service_unavailable')
    slow[0]?.end()
    const next = readBy(pace, 'ann')
    await next.done
    assert.equal(next.state, 'runs')
  })

  test('answers of a route for unknown stores share one turn', async () => {
    const { pace } = openPace(false)
    const reads = Array.from({ length: 10 }, (_, n) =>
      readBy(pace, 'flood', `/v1/tenants/none-${n}/site`),
    )
    await Promise.all(reads.slice(0, 4).map(({ done }) => done))
    assert.equal(reads.filter(({ state }) => state === 'runs').length, 4)
    const known = readBy(pace, 'flood')
    await known.done
    assert.equal(known.state, 'runs')
    for (const read of reads) {
      await read.done
      read.end()
    }
  })
})
