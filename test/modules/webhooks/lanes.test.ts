import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import {
  claimDue,
  LANE_BYTES,
  LANE_LENGTH,
} from '../../../src/modules/webhooks/dispatch-queries.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import {
  deadLetter,
  recordAndTakeNext,
  recordDelivered,
  recordFailed,
  releaseLane,
} from '../../../src/modules/webhooks/lane-queries.ts'
import { endExpiredLanes } from '../../../src/modules/webhooks/queue-queries.ts'
import type { DueDelivery, LaneLease } from '../../../src/modules/webhooks/schema.ts'
import { LeaseLostError } from '../../../src/platform/leases.ts'
import { share } from '../../harness/scope.ts'
import { listMisplaced, openWebhooksApp, type WebhooksApp } from './setup.ts'

type Due = DueDelivery & LaneLease

const ALL = { limit: 16, perEndpoint: 2, healthyOnly: false }
const ARRIVED = { at: new Date().toISOString(), status_code: 200, latency_ms: 1, error: null }

/** For the tests that claim deliveries themselves. A dispatcher would send those of all stores. */
const shared = share(openWebhooksApp)
let stores = 0

/** The next store, with an endpoint. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  const { id } = await app.register(await app.merchant(tenant))
  return { app, tenant, id, db: app.runtime.workerDatabase.tenant(tenant) }
}

const expireLanes = ({ admin }: WebhooksApp, tenant: string) =>
  admin.query('update webhook_lanes set lease_until = now() where tenant_ref = $1', [tenant])

test('the bytes of a lane are limited', async () => {
  const { app, tenant, db } = await openStore()
  const large = { padding: 'x'.repeat(100_000) }
  for (let n = 0; n < 20; n++) await app.place(tenant, large)
  await numberNewEvents(app.runtime.workerDatabase)

  const claimed = await claimDue(db, ALL)
  assert.ok(claimed.length > 0)
  const lanes = Map.groupBy(claimed, ({ lane }) => lane)
  for (const lane of lanes.values()) {
    const before = lane.slice(0, -1).reduce((sum, { payload }) => sum + payload.length, 0)
    assert.ok(before < LANE_BYTES, `${lane.length} in one lane`)
  }

  for (const [first, ...rest] of lanes.values()) {
    assert.ok(first !== undefined)
    const arrived = [first, ...rest].map((due) => ({ due, attempt: ARRIVED }))
    const next = await recordAndTakeNext(db, first, arrived, LANE_LENGTH)
    assert.equal(next.length, Math.ceil(LANE_BYTES / 100_300))
  }
})

test('a delivery that is larger than the limit of a lane is sent alone', async () => {
  const { app, tenant, db } = await openStore()
  for (let n = 0; n < 4; n++) await app.place(tenant, { padding: 'x'.repeat(262_000) })
  await numberNewEvents(app.runtime.workerDatabase)
  const [claimed, ...more] = await claimDue(db, { ...ALL, perEndpoint: 1 })
  assert.ok(claimed !== undefined && more.length === 0)
  const arrived = [{ due: claimed, attempt: ARRIVED }]
  assert.equal((await recordAndTakeNext(db, claimed, arrived, LANE_LENGTH)).length, 1)
})

test('no two lanes of an endpoint hold the same delivery, with four workers at once', async () => {
  const { app, tenant, db } = await openStore()
  const placed = await Promise.all(Array.from({ length: 300 }, (_, n) => app.place(tenant, { n })))
  while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
  const sent: string[] = []
  const drive = async (lane: Due[]) => {
    for (let due: DueDelivery[] = lane; due[0] !== undefined; ) {
      sent.push(...due.map(({ event_id }) => event_id))
      const arrived = due.map((each) => ({ due: each, attempt: ARRIVED }))
      due = await recordAndTakeNext(db, lane[0] as Due, arrived, 8)
    }
  }
  // Four workers at once; each takes the lanes that the others leave.
  const work = async () => {
    for (let idle = 0; idle < 3; ) {
      const rows = await claimDue(db, ALL)
      idle = rows.length === 0 ? idle + 1 : 0
      await Promise.all([...Map.groupBy(rows, ({ lane }) => lane).values()].map(drive))
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  await work()
  assert.deepEqual(sent.sort(), placed.sort())
})

test('a lane that was taken over records nothing and claims nothing', async () => {
  const { app, tenant, db } = await openStore()
  for (let n = 0; n < 3; n++) await app.place(tenant, { n })
  await numberNewEvents(app.runtime.workerDatabase)
  const one = { ...ALL, perEndpoint: 1 }
  const [first] = await claimDue(db, one)
  assert.ok(first !== undefined)
  const arrived = [{ due: first, attempt: ARRIVED }]
  assert.deepEqual(await claimDue(db, one), [], 'no other worker takes it meanwhile')
  await expireLanes(app, tenant)
  await endExpiredLanes(db)
  const [second] = await claimDue(db, one)
  assert.equal(second?.id, first.id)
  assert.deepEqual(await recordAndTakeNext(db, first, arrived, LANE_LENGTH), [])
  await assert.rejects(recordDelivered(db, first, arrived, []), LeaseLostError)
  await assert.rejects(deadLetter(db, first, 'subscription_inactive'), LeaseLostError)
  const { rows } = await app.admin.query(
    `select status, attempt_count from webhook_deliveries where tenant_ref = $1 group by 1, 2`,
    [tenant],
  )
  assert.deepEqual(rows, [{ status: 'pending', attempt_count: 0 }])
})

test('the unsent deliveries of a lane are queued again, whether it is released, expires or fails', async () => {
  const { app, tenant, db } = await openStore()
  let left = 3 * (LANE_LENGTH + 3)
  await Promise.all(Array.from({ length: left }, (_, n) => app.place(tenant, { n })))
  while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
  const ends = {
    async released(lane: Due) {
      await releaseLane(db, lane)
    },
    async expired() {
      await expireLanes(app, tenant)
      await endExpiredLanes(db)
    },
    async failed(lane: Due) {
      const attempt = { ...ARRIVED, status_code: 500, error: 'HTTP 500' }
      const options = { retrySeconds: 60, pauseAfter: 10 }
      await db.transaction('test', (tx) => recordFailed(tx, lane, { due: lane, attempt }, options))
    },
  }
  for (const [name, end] of Object.entries(ends)) {
    const claimed = await claimDue(db, { ...ALL, perEndpoint: 1 })
    const [lane] = claimed
    assert.ok(lane !== undefined)
    const arrived = claimed.map((due) => ({ due, attempt: ARRIVED }))
    const [next, ...rest] = await recordAndTakeNext(db, lane, arrived, 3)
    assert.ok(next !== undefined && rest.length === 2)
    await recordDelivered(db, lane, [{ due: next, attempt: ARRIVED }], rest)
    await end({ ...lane, ...rest[0] })
    left -= claimed.length + 1
    const { rows } = await app.admin.query(
      'select count(*)::int as queued from webhook_queue where tenant_ref = $1',
      [tenant],
    )
    assert.deepEqual(rows, [{ queued: left }], name)
    assert.deepEqual(await listMisplaced(app.admin), [], name)
  }
})

test('all deliveries of a deleted endpoint become dead letters, without an attempt', async (t) => {
  const app = await openWebhooksApp(t)
  const acme = await app.merchant('acme')
  const { id } = await app.register(acme)
  for (let n = 0; n < 5; n++) await app.place('acme', { n })
  await numberNewEvents(app.runtime.workerDatabase)
  assert.equal((await acme.send('DELETE', `/v1/merchant/webhooks/${id}`)).status, 200)
  while ((await app.dispatch()) > 0);
  const { rows } = await app.admin.query(
    `select status, attempt_count, last_attempt_error, count(*)::int
       from webhook_deliveries group by 1, 2, 3`,
  )
  assert.deepEqual(rows, [
    {
      status: 'dead_lettered',
      attempt_count: 0,
      last_attempt_error: 'subscription_deleted',
      count: 5,
    },
  ])
  assert.deepEqual(await listMisplaced(app.admin), [])
})

test('full lanes of a paused endpoint become dead letters', async () => {
  const { app, tenant, id, db } = await openStore()
  for (let n = 0; n < 3 * LANE_LENGTH; n++) await app.place(tenant, { n })
  while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
  const pause = `update webhook_subscriptions set active = false, consecutive_failures = 10 where id = $1`
  await app.admin.query(pause, [id])
  const claim = { limit: 16, perEndpoint: 2, healthyOnly: false }
  assert.equal((await claimDue(db, claim)).length, 2 * LANE_LENGTH)
})

test('another worker sends a lane that could not begin', async (t) => {
  const app = await openWebhooksApp(t)
  await app.register(await app.merchant('acme'))
  await app.place('acme')
  const openLine = () => Promise.reject(new Error('no connection'))
  await app.dispatch({
    fetch: { ...app.runtime.safeFetch, openClient: openLine },
    logger: pino({ enabled: false }),
  })
  assert.equal(app.receiver.received.length, 0)
  await app.admin.query('update webhook_lanes set lease_until = now()')
  await app.dispatch()
  assert.equal(app.receiver.received.length, 1)
})

test('sends an event that was numbered by a release without the queue', async (t) => {
  const app = await openWebhooksApp(t)
  await app.register(await app.merchant('acme'))
  await app.place('acme')
  await app.admin.query(
    `update webhook_events set sequence = 1, payload = '{}', created_at = now(), data = null`,
  )
  await app.admin.query(`update webhook_events set erase_requested_at = now()`)
  assert.deepEqual(await listMisplaced(app.admin), [])
  await app.dispatch()
  assert.equal(app.receiver.received.length, 1)
})

test('an expired lane with queued and delivered rows queues only the undelivered ones', async () => {
  const { app, tenant, db } = await openStore()
  for (let n = 0; n < 3; n++) await app.place(tenant, { n })
  await numberNewEvents(app.runtime.workerDatabase)
  // One is delivered, one is queued, and one is in the lane only.
  await app.admin.query(
    `with lane as (
      insert into webhook_lanes (tenant_ref, lease_token, lane, lease_until, subscription_id, deliveries)
      select tenant_ref, gen_random_uuid(), 1, now(), min(subscription_id::text)::uuid, array_agg(delivery_id)
        from webhook_queue
       where tenant_ref = $1
       group by tenant_ref
    ), ranked as (
      select delivery_id, row_number() over () as place from webhook_queue where tenant_ref = $1
    ), arrived as (
      update webhook_deliveries
         set status = 'delivered', delivered_at = now(), next_retry_at = null
       where id = (select delivery_id from ranked where place = 1)
    )
    delete from webhook_queue using ranked
     where webhook_queue.delivery_id = ranked.delivery_id and place < 3`,
    [tenant],
  )
  await endExpiredLanes(db)
  assert.deepEqual(await listMisplaced(app.admin), [])
})
