import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadEvents } from '../../../src/compose/events.ts'
import { claimDue } from '../../../src/modules/webhooks/dispatch-queries.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { recordAndTakeNext } from '../../../src/modules/webhooks/lane-queries.ts'
import { replay } from '../../../src/modules/webhooks/replay.ts'
import type { Replayed } from '../../../src/modules/webhooks/schema.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import {
  assertCode,
  emit,
  listMisplaced,
  openWebhooksApp,
  PLACED,
  type Received,
  URL,
  type WebhooksApp,
} from './setup.ts'

const EVENTS = await loadEvents()

const REFUNDED = 'commerce.order.refunded.v1'
/** Without a limit of calls, and with ten events in each. */
const IN_TENS = { limits: { velocity: async () => true }, events: EVENTS, eventsMax: 10 }
const ARRIVED = { at: new Date().toISOString(), status_code: 200, latency_ms: 1, error: null }

const idOf = ({ headers }: Received) => headers['x-webhook-event-id']
const sequenceOf = ({ body }: Received) => JSON.parse(body.toString()).data.sequence as number

async function sendAll(app: WebhooksApp) {
  while ((await app.dispatch()) > 0);
}

/** A store with an endpoint that was paused while its events came. */
async function openPaused(app: WebhooksApp, tenant: string, events: number) {
  const merchant = await app.merchant(tenant)
  const { id } = await app.register(merchant)
  await app.admin.query(
    'update webhook_subscriptions set active = false, auto_paused_at = now() where id = $1',
    [id],
  )
  const ids: string[] = []
  for (let n = 0; n < events; n++) ids.push(await app.place(tenant, { n }))
  while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
  const resume = () => app.register(merchant)
  return { merchant, id, ids, resume, path: `${URL}/${id}/replay` }
}

test('replays', async (t) => {
  const app = await openWebhooksApp(t)
  const { receiver, admin } = app

  await t.test(
    'send what a paused endpoint has missed, in order, marked as a replay, and once',
    async () => {
      const { merchant, id, ids, resume, path } = await openPaused(app, 'missed', 150)
      assertCode(await merchant.post(path, { from: 1 }), 409, 'webhook_paused')
      await resume()
      receiver.received.length = 0
      const answer = await merchant.post(path, { from: 1 })
      assert.equal(answer.status, 202, answer.text)
      assert.deepEqual(answer.body, {
        replay: {
          subscription_id: id,
          queued: 150,
          from_sequence: 1,
          to_sequence: 150,
          next_from: null,
          gone_before: null,
        },
      })
      assert.deepEqual(await listMisplaced(admin), [])
      await sendAll(app)
      assert.deepEqual(receiver.received.map(idOf), ids)
      assert.ok(receiver.received.every(({ headers }) => headers['x-webhook-replay'] === 'true'))
      const { body } = await merchant.get('/v1/merchant/deliveries?limit=1')
      const [newest] = body.deliveries
      assert.deepEqual([newest.status, newest.attempt_count], ['delivered', 1])
      assert.ok(Date.parse(newest.replayed_at) > Date.now() - 60_000)
      const again = await merchant.post(path, { from: 1 })
      assert.equal(again.body.replay.queued, 0, 'what was delivered is not sent again')
      const audit = await merchant.get('/v1/my/audit?action=webhook.replayed')
      assert.deepEqual(
        audit.body.entries.map(({ after }: { after: unknown }) => after),
        [{ from: 1, to: 150, queued: 150 }],
      )
    },
  )

  await t.test('leave live deliveries without the mark', async () => {
    const merchant = await app.merchant('live')
    await app.register(merchant)
    receiver.received.length = 0
    await app.place('live')
    await sendAll(app)
    assert.equal(receiver.received.length, 1)
    assert.equal(receiver.received[0]?.headers['x-webhook-replay'], undefined)
    const { body } = await merchant.get('/v1/merchant/deliveries')
    assert.equal(body.deliveries[0].replayed_at, null)
  })

  await t.test('send delivered events again only on request, with the same bytes', async () => {
    const merchant = await app.merchant('lost')
    const { id } = await app.register(merchant)
    for (let n = 0; n < 3; n++) await app.place('lost', { n })
    receiver.received.length = 0
    await sendAll(app)
    const first = new Map(receiver.received.map((one) => [idOf(one), one.body.toString()]))
    receiver.received.length = 0
    const path = `${URL}/${id}/replay`
    assert.equal((await merchant.post(path, { from: 1 })).body.replay.queued, 0)
    const all = await merchant.post(path, { from: 2, include_delivered: true })
    assert.equal(all.body.replay.queued, 2)
    await sendAll(app)
    assert.deepEqual(receiver.received.map(sequenceOf), [2, 3])
    for (const one of receiver.received) {
      assert.equal(one.body.toString(), first.get(idOf(one)))
      assert.equal(one.headers['x-webhook-delivery-attempt'], '2')
    }
  })

  await t.test('begin at a number or at a time', async () => {
    const { merchant, resume, path } = await openPaused(app, 'since', 40)
    await resume()
    await admin.query(
      `update webhook_events
          set created_at = timestamptz '2026-03-01T00:00:00Z' + sequence * interval '1 minute'
        where tenant_ref = 'since'`,
    )
    const cases: [number | string, number][] = [
      [37, 37],
      ['2026-03-01T00:35:00Z', 35],
      ['2026-03-01T00:34:00.001Z', 35],
      ['2026-03-01T02:33:00+02:00', 33],
      ['2026-02-01T00:00:00Z', 1],
    ]
    for (const [from, first] of cases) {
      const { body, text } = await merchant.post(path, { from })
      assert.equal(body.replay?.from_sequence, first, `${from}: ${text}`)
    }
    const late = await merchant.post(path, { from: '2027-01-01T00:00:00Z' })
    assert.deepEqual(late.body.replay, {
      ...late.body.replay,
      queued: 0,
      from_sequence: 41,
      to_sequence: null,
      next_from: null,
      gone_before: null,
    })
    await sendAll(app)
  })

  await t.test('include new events of the endpoint, and events that it never got', async () => {
    const merchant = await app.merchant('newcomer')
    for (let n = 0; n < 3; n++) await app.place('newcomer', { n })
    const { id } = await app.register(merchant)
    const live = await app.place('newcomer', { n: 3 })
    while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
    const { body } = await merchant.post(`${URL}/${id}/replay`, { from: 1 })
    assert.equal(body.replay.queued, 3, 'the fourth is pending already')
    receiver.received.length = 0
    await sendAll(app)
    assert.deepEqual(receiver.received.map(sequenceOf).sort(), [1, 2, 3, 4])
    const marked = receiver.received.filter(({ headers }) => headers['x-webhook-replay'])
    assert.deepEqual(marked.map(sequenceOf), [1, 2, 3])
    assert.ok(!marked.map(idOf).includes(live))
    assert.deepEqual(await listMisplaced(admin), [])
  })

  await t.test(
    'are done in parts, and the next call continues where the previous one ended',
    async () => {
      const { id, ids, resume } = await openPaused(app, 'parts', 25)
      await resume()
      const db = await app.store('parts')
      const parts: (number | null)[][] = []
      for (let from: number | null = 1; from !== null; ) {
        const part: Replayed = await replay(IN_TENS, db, SYSTEM, { id, from })
        parts.push([part.queued, part.to_sequence, part.next_from])
        from = part.next_from
      }
      assert.deepEqual(parts, [
        [10, 10, 11],
        [10, 20, 21],
        [5, 25, null],
      ])
      receiver.received.length = 0
      await sendAll(app)
      assert.deepEqual(receiver.received.map(idOf), ids)
    },
  )

  await t.test('queue every delivery once when two run at the same time', async () => {
    const { merchant, ids, resume, path } = await openPaused(app, 'twice', 60)
    await resume()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => merchant.post(path, { from: 1, include_delivered: true })),
    )
    const queued = answers.map(({ body }) => body.replay?.queued)
    assert.deepEqual(
      queued.toSorted((one, other) => other - one),
      [60, 0, 0, 0, 0, 0, 0, 0],
    )
    receiver.received.length = 0
    await sendAll(app)
    assert.deepEqual(receiver.received.map(idOf), ids)
  })

  await t.test(
    'replays of an endpoint that is paused again keep the remaining deliveries as dead letters',
    async () => {
      const { merchant, ids, resume, path } = await openPaused(app, 'again', 30)
      await resume()
      await merchant.post(path, { from: 1 })
      let accepted = 0
      receiver.answer((response) => {
        accepted += 1
        response.statusCode = accepted > 12 ? 500 : 200
        response.end()
      })
      receiver.received.length = 0
      for (let n = 0; n < 12; n++) {
        await sendAll(app)
        await app.makeAllDue()
      }
      await sendAll(app)
      receiver.answer((response) => response.end())
      assert.deepEqual(receiver.received.slice(0, 12).map(idOf), ids.slice(0, 12))
      assert.equal((await merchant.get(URL)).body.subscriptions[0].active, false)
      assertCode(await merchant.post(path, { from: 1 }), 409, 'webhook_paused')
      const dead = await merchant.get('/v1/merchant/deliveries?status=dead_lettered&limit=100')
      assert.equal(dead.body.total, 18)
      await resume()
      receiver.received.length = 0
      assert.equal((await merchant.post(path, { from: 1 })).body.replay.queued, 18)
      await sendAll(app)
      assert.deepEqual(receiver.received.map(idOf), ids.slice(12))
      assert.deepEqual(await listMisplaced(admin), [])
    },
  )

  await t.test('name the events that are no longer there', async () => {
    const { merchant, resume, path } = await openPaused(app, 'pruned', 12)
    await resume()
    await admin.query(
      `delete from webhook_deliveries
        where event_id in (select id from webhook_events where tenant_ref = 'pruned' and sequence <= 8)`,
    )
    await admin.query(`delete from webhook_events where tenant_ref = 'pruned' and sequence <= 8`)
    const some = (await merchant.post(path, { from: 3 })).body.replay
    assert.deepEqual([some.queued, some.from_sequence, some.gone_before], [4, 9, 9])
    const kept = (await merchant.post(path, { from: 9 })).body.replay
    assert.deepEqual([kept.from_sequence, kept.gone_before], [9, null])
    const since = (await merchant.post(path, { from: '2020-01-01T00:00:00Z' })).body.replay
    assert.deepEqual([since.from_sequence, since.gone_before], [9, 9])
    await admin.query(`delete from webhook_queue where tenant_ref = 'pruned'`)
    await admin.query(`delete from webhook_deliveries where tenant_ref = 'pruned'`)
    await admin.query(`delete from webhook_events where tenant_ref = 'pruned'`)
    const none = (await merchant.post(path, { from: 1 })).body.replay
    assert.deepEqual([none.queued, none.to_sequence, none.gone_before], [0, null, 13])
  })

  await t.test('leave out events whose content was erased', async () => {
    const { merchant, ids, resume, path } = await openPaused(app, 'erased', 3)
    await resume()
    await admin.query(`update webhook_events set erase_requested_at = now() where id = $1`, [
      ids[1],
    ])
    assert.equal((await merchant.post(path, { from: 1 })).body.replay.queued, 2)
    receiver.received.length = 0
    await sendAll(app)
    assert.deepEqual(receiver.received.map(idOf), [ids[0], ids[2]])
  })

  await t.test(
    'include events beyond the contract only while the store has the add-on',
    async () => {
      const tenant = 'extended'
      const rule = (state: string) =>
        app.operator.put(`/v1/entitlements/tenants/${tenant}/features/extended_events`, { state })
      const merchant = await app.merchant(tenant)
      await rule('allow')
      const made = await merchant.post(URL, { url: receiver.url(), events: [PLACED, REFUNDED] })
      const path = `${URL}/${made.body.subscription.id}/replay`
      await rule('default')
      const db = await app.store(tenant)
      await db.transaction('test: emit', (tx) => emit(tx, { type: REFUNDED, data: {} }))
      await sendAll(app)
      assert.equal((await merchant.post(path, { from: 1 })).body.replay.queued, 0)
      await rule('allow')
      assert.equal((await merchant.post(path, { from: 1 })).body.replay.queued, 1)
    },
  )

  await t.test('are refused for an invalid position, and for an unknown endpoint', async () => {
    const merchant = await app.merchant('picky')
    const { id } = await app.register(merchant)
    const path = `${URL}/${id}/replay`
    const bad = [
      {},
      { from: 0 },
      { from: -1 },
      { from: 1.5 },
      { from: null },
      { from: '' },
      { from: '12' },
      { from: 'yesterday' },
      { from: '2026-13-01T00:00:00Z' },
      { from: '0000-01-01T00:00:00Z' },
      { from: 'x'.repeat(65) },
      { from: [1] },
      { from: 2 ** 60 },
      { from: 1, include_delivered: 'yes' },
    ]
    for (const body of bad) {
      assertCode(await merchant.post(path, body), 400, 'invalid_body')
    }
    for (const wrong of ['nonsense', '11111111-1111-4111-8111-111111111111']) {
      const answer = await merchant.post(`${URL}/${wrong}/replay`, { from: 1 })
      assertCode(answer, 404, 'webhook_not_found')
    }
    const other = await app.merchant('stranger')
    assertCode(await other.post(path, { from: 1 }), 404, 'webhook_not_found')
    const lesser = await app.merchant('picky', 'read:own_orders')
    assertCode(await lesser.post(path, { from: 1 }), 403, 'forbidden')
    await merchant.send('DELETE', `${URL}/${id}`)
    assertCode(await merchant.post(path, { from: 1 }), 404, 'webhook_not_found')
  })

  await t.test('are limited to ten a minute of a store', async () => {
    const merchant = await app.merchant('hasty')
    const { id } = await app.register(merchant)
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => merchant.post(`${URL}/${id}/replay`, { from: 1 })),
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [...Array(10).fill(202), ...Array(5).fill(429)])
    const other = await app.merchant('patient')
    const { id: own } = await app.register(other)
    assert.equal((await other.post(`${URL}/${own}/replay`, { from: 1 })).status, 202)
  })
})

test('a replay uses one lane of its endpoint, and leaves other endpoints and stores their lanes', async (t) => {
  const app = await openWebhooksApp(t)
  const { workerDatabase } = app.runtime
  const { merchant, resume, path } = await openPaused(app, 'acme', 40)
  await resume()
  const live = await app.merchant('globex')
  await app.register(live)
  const take = { limit: 16, perEndpoint: 2, healthyOnly: false }
  const acme = workerDatabase.tenant('acme')

  for (let n = 0; n < 2; n++) await app.place('acme', { live: n })
  while ((await numberNewEvents(workerDatabase)) > 0);
  const before = await claimDue(acme, take)
  const lanes = [...Map.groupBy(before, ({ lane }) => lane).values()]
  assert.equal(lanes.length, 2, 'without a replay an endpoint has two lanes')
  await merchant.post(path, { from: 1 })
  assert.deepEqual(await claimDue(acme, take), [], 'no third lane')
  const [one, other] = lanes.map((lane) => ({
    lease: lane[0],
    arrived: lane.map((due) => ({ due, attempt: ARRIVED })),
  }))
  assert.ok(one?.lease && other?.lease)
  assert.deepEqual(
    await recordAndTakeNext(acme, one.lease, one.arrived, 8),
    [],
    'the lane that ends first leaves the replay to the other',
  )
  assert.deepEqual(await claimDue(acme, take), [], 'no second lane while the other sends')
  const replayed = await recordAndTakeNext(acme, other.lease, other.arrived, 8)
  const sequences = replayed.map(({ payload }) => JSON.parse(payload).data.sequence)
  assert.deepEqual(sequences, [1, 2, 3, 4, 5, 6, 7, 8])
  assert.ok(replayed.every(({ replay: isReplay }) => isReplay))

  for (let n = 0; n < 4; n++) await app.place('globex', { n })
  await numberNewEvents(workerDatabase)
  const elsewhere = await claimDue(workerDatabase.tenant('globex'), take)
  assert.ok(elsewhere.length > 0, 'another store is served meanwhile')
})

test('a replay behind live deliveries that wait uses one lane, too', async (t) => {
  const app = await openWebhooksApp(t)
  const { workerDatabase } = app.runtime
  const { ids, merchant, resume, path } = await openPaused(app, 'acme', 100)
  await resume()
  for (let n = 0; n < 5; n++) await app.place('acme', { live: n })
  while ((await numberNewEvents(workerDatabase)) > 0);
  await merchant.post(path, { from: 1 })
  const take = { limit: 16, perEndpoint: 2, healthyOnly: false }
  const claimed = await claimDue(workerDatabase.tenant('acme'), take)
  assert.equal(new Set(claimed.map(({ lane }) => lane)).size, 1)
  await app.admin.query('update webhook_lanes set lease_until = now()')
  await sendAll(app)
  const replayed = app.receiver.received.filter(({ headers }) => headers['x-webhook-replay'])
  assert.deepEqual(replayed.map(idOf), ids)
})
