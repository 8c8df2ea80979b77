import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorker } from '../../src/compose/worker.ts'
import { until } from '../harness/eventually.ts'
import { openHanging, openWebhooksApp } from '../modules/webhooks/setup.ts'

const HANGING = 500
const SECONDS = 30

test('five hundred endpoints that hang do not delay the others', async (t) => {
  const hanging = await openHanging(t)
  const app = await openWebhooksApp(t, {
    targets: [hanging.port],
    env: { DATABASE_POOL_MAX: '20' },
  })
  await hanging.fill(app, HANGING)
  await app.register(await app.merchant('healthy'))
  const worker = await startWorker(app.runtime)
  t.after(async () => {
    await hanging.close()
    await worker.stop()
  })
  await until('each of them hangs', () => hanging.reached() === HANGING, 60_000)

  const waits: number[] = []
  const held: number[] = []
  const endsAt = performance.now() + SECONDS * 1_000
  while (performance.now() < endsAt) {
    const before = app.receiver.received.length
    await app.place('healthy')
    const committedAt = performance.now()
    await until('it is there', () => app.receiver.received.length > before, 10_000)
    waits.push(performance.now() - committedAt)
    held.push(hanging.open())
    await sleep(20)
  }
  waits.sort((a, b) => a - b)
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? Number.POSITIVE_INFINITY
  t.diagnostic(
    `${waits.length} deliveries, p50 ${waits[waits.length >> 1]?.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, with ${Math.min(...held)} to ${Math.max(...held)} attempts hanging`,
  )
  assert.ok(p99 <= 5_000, `p99 ${p99} ms`)

  const { rows } = await app.admin.query(
    `select min(latency_ms)::int as soonest, max(latency_ms)::int as latest
       from webhook_attempts where error = 'The endpoint did not answer in time.'`,
  )
  assert.ok(rows[0].soonest >= 9_950, `given up after ${rows[0].soonest} ms`)
  assert.ok(rows[0].latest < 12_000, `held for ${rows[0].latest} ms`)
})
