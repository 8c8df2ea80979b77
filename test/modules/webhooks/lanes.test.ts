import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  claimDue,
  LANE_BYTES,
  LANE_LENGTH,
  settleDelivered,
} from '../../../src/modules/webhooks/dispatch-queries.ts'
import { sealDue } from '../../../src/modules/webhooks/jobs.ts'
import { openWebhooksApp } from './setup.ts'

const ALL = { limit: 16, perEndpoint: 2, calmOnly: false }
const ARRIVED = { at: new Date().toISOString(), status_code: 200, latency_ms: 1, error: null }

test('what waits to be sent to an endpoint has room in memory, however large it is', async (t) => {
  const app = await openWebhooksApp(t)
  const { id } = await app.register(await app.merchant('acme'))
  const large = { padding: 'x'.repeat(100_000) }
  for (let n = 0; n < 20; n++) await app.place('acme', large)
  await sealDue(app.runtime.workerDatabase)
  const db = app.runtime.workerDatabase.tenant('acme')

  const claimed = await claimDue(db, ALL)
  assert.ok(claimed.length > 0)
  const lanes = Map.groupBy(claimed, ({ lane }) => lane)
  for (const lane of lanes.values()) {
    const before = lane.slice(0, -1).reduce((sum, { payload }) => sum + payload.length, 0)
    assert.ok(before < LANE_BYTES, `${lane.length} in one lane`)
  }

  const arrived = claimed.map((due) => ({ due, attempt: ARRIVED }))
  const next = await settleDelivered(db, id, arrived, LANE_LENGTH)
  assert.equal(next.length, Math.ceil(LANE_BYTES / 100_300))
})

test('what is larger than a lane is sent all the same, by itself', async (t) => {
  const app = await openWebhooksApp(t)
  const { id } = await app.register(await app.merchant('acme'))
  for (let n = 0; n < 4; n++) await app.place('acme', { padding: 'x'.repeat(262_000) })
  await sealDue(app.runtime.workerDatabase)
  const db = app.runtime.workerDatabase.tenant('acme')
  const claimed = await claimDue(db, { ...ALL, perEndpoint: 1 })
  assert.equal(claimed.length, 1)
  const arrived = claimed.map((due) => ({ due, attempt: ARRIVED }))
  assert.equal((await settleDelivered(db, id, arrived, LANE_LENGTH)).length, 1)
})
