import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { openFlooder } from './flood.ts'

/** As many as moved another store's cached read from 1 to 350 ms when each path was split for each route. */
const CLIENTS = 16
const READS = 300
/** Beside the time that a read takes alone: the flood's requests are read by the same thread. */
const SLOWER_MS = 20

const PATHS = {
  'nothing but slashes': '/'.repeat(7_900),
  'many parts': '/a'.repeat(3_900),
  'one long part': `/${'a'.repeat(7_900)}`,
  'a known path with more parts': `/v1/merchant/orders${'/x'.repeat(3_800)}`,
  'escaped slashes': '/%2f'.repeat(1_900),
}

test('a flood of unknown paths leaves the reads of a store as fast as they were', async (t) => {
  const app = await openTestApp(t, { live: true })
  await app.store('acme')
  const flooder = openFlooder(t)
  const read = async () => {
    const took: number[] = []
    for (let n = 0; n < READS; n++) {
      const began = performance.now()
      await (await fetch(`${app.url}/healthz`)).text()
      took.push(performance.now() - began)
    }
    return took.toSorted((a, b) => a - b)[READS >> 1] ?? 0
  }
  await read()
  for (const [name, path] of Object.entries(PATHS)) {
    await t.test(name, async (t) => {
      const alone = await read()
      const requests = [{ url: app.url + path, method: 'GET' as const, headers: {} }]
      const flood = { requests, clients: CLIENTS }
      const { statuses, result: beside } = await flooder.during(flood, read)
      const answers = JSON.stringify(statuses)
      t.diagnostic(`median ${beside.toFixed(1)} ms, alone ${alone.toFixed(1)} ms; flood ${answers}`)
      assert.ok(Object.keys(statuses).every((status) => ['404', '414', '400'].includes(status)))
      assert.ok(beside <= alone + SLOWER_MS, answers)
    })
  }
})
