import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../../../src/kernel/money.ts'
import { openTestApp } from '../../harness/app.ts'
import { openShop } from '../../modules/checkout/setup.ts'
import { openFlooder } from './flood.ts'

/** As many as moved another store's cached read from 1 to 350 ms when each path was split for each route. */
const CLIENTS = 16
const READS = 300
/** Long enough for a flood, whose process must first be given the processor. */
const READ_MS = 3_000
/** So many in a second moved the read to 350 ms: fewer would be no flood. */
const FLOOD_MIN = 22
/** Beside the time that a read takes alone: the flood's requests are read by the same thread. */
const SLOWER_MS = 20

/** Two stores are named by the flood, and their neighbour is read. */
const FLOODED = ['acme', 'initech']
const NEIGHBOUR = 'globex'

const PATHS = {
  'nothing but slashes': ['/'.repeat(7_900)],
  'many parts': ['/a'.repeat(3_900)],
  'one long part': [`/${'a'.repeat(7_900)}`],
  'known paths with more parts': [
    `/v1/merchant/orders${'/x'.repeat(3_800)}`,
    ...FLOODED.map((store) => `/v1/tenants/${store}/catalog/products${'/x'.repeat(3_800)}`),
  ],
  'unknown parts of stores': FLOODED.map((store) => `/v1/tenants/${store}${'/x'.repeat(3_900)}`),
  'escaped slashes': ['/%2f'.repeat(1_900)],
}

test("a flood of unknown paths leaves another store's cached read as fast as it was", async (t) => {
  const app = await openTestApp(t, { live: true })
  for (const store of [...FLOODED, NEIGHBOUR]) await openShop(app, store)
  const flooder = openFlooder(t)
  const url = `${app.url}/v1/tenants/${NEIGHBOUR}/catalog/products`
  const expected = await (await fetch(url)).text()
  assert.equal(JSON.parse(expected).products.length, 1)
  const { cache } = app.runtime
  const read = async () => {
    const took: number[] = []
    const before = cache.stats()
    const start = performance.now()
    while (took.length < READS || performance.now() - start < READ_MS) {
      const began = performance.now()
      const text = await (await fetch(url)).text()
      took.push(performance.now() - began)
      assert.equal(text, expected)
    }
    const after = cache.stats()
    assert.deepEqual(
      [after.hits - before.hits, after.misses],
      [took.length, before.misses],
      'each was answered from memory',
    )
    const median = took.toSorted((a, b) => a - b)[took.length >> 1] ?? 0
    return { median, seconds: (performance.now() - start) / 1_000 }
  }
  await read()
  for (const [name, paths] of Object.entries(PATHS)) {
    await t.test(name, async (t) => {
      const { median: alone } = await read()
      const requests = paths.map((path) => ({
        url: app.url + path,
        method: 'GET' as const,
        headers: {},
      }))
      const { statuses, result } = await flooder.during({ requests, clients: CLIENTS }, read)
      const { median: beside, seconds } = result
      const perSecond = sum(Object.values(statuses)) / seconds
      const answers = `${perSecond.toFixed(0)} a second, ${JSON.stringify(statuses)}`
      t.diagnostic(`median ${beside.toFixed(1)} ms, alone ${alone.toFixed(1)} ms; flood ${answers}`)
      assert.ok(Object.keys(statuses).every((status) => ['404', '414', '400'].includes(status)))
      assert.ok(perSecond >= FLOOD_MIN, answers)
      assert.ok(beside <= alone + SLOWER_MS, answers)
    })
  }
})
