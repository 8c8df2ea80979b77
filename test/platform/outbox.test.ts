import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { Type } from 'typebox'
import type { Tx } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import {
  deleteHandled,
  type Handler,
  handle,
  type OutboxEvent,
  publish,
} from '../../src/platform/outbox.ts'
import { until } from '../harness/eventually.ts'
import { deliverDue } from '../harness/outbox.ts'
import { openPlatform } from '../harness/platform.ts'

const platform = await openPlatform({ after }, 10)
const { app, worker, query } = platform
const [acme = '', bolt = ''] = await platform.addStores(2)

beforeEach(() => query('truncate outbox'))

/** A topic with any payload. */
const topicOf = (type: string) => ({ type, payload: Type.Unknown() })

const emit = (tenant: string, type: string, payload: unknown = {}) =>
  app.tenant(tenant).transaction('emit', (tx) => publish(tx, topicOf(type), payload))

/** A handler that records the events it gets. */
function listener() {
  const events: OutboxEvent[] = []
  const handler: Handler = async (event) => void events.push(event)
  return { events, handler }
}

interface StoredEvent {
  attempt_count: number
  next_attempt_at: Date | null
  handled: boolean
  last_error: string | null
  lease_token: string | null
}

const listRows = () =>
  query<StoredEvent>(`
    select attempt_count, next_attempt_at, handled_at is not null as handled, last_error, lease_token
      from outbox
     order by created_at`)

const makeDue = () => query('update outbox set next_attempt_at = now() where handled_at is null')
const postpone = () =>
  query(`update outbox set next_attempt_at = now() + interval '1 hour' where handled_at is null`)

/** The database's own time, in milliseconds. */
const readClock = async () =>
  Number((await query<{ now: Date }>('select clock_timestamp() as now'))[0]?.now)

describe('the handler of a topic', () => {
  test('gets only payloads of its shape; another payload is tried again, and never handled', async () => {
    const topic = { type: 'shaped', payload: Type.Object({ order_id: Type.String() }) }
    const got: unknown[] = []
    const handlers = { shaped: handle(topic, async (payload) => void got.push(payload)) }
    await emit(acme, 'shaped', { order_id: 1 })
    await emit(acme, 'shaped', { order_id: 'a' })
    await deliverDue(worker, handlers, { slots: 10 })
    assert.deepEqual(got, [{ order_id: 'a' }])
    const [wrong, right] = await listRows()
    assert.deepEqual([wrong?.handled, right?.handled], [false, true])
    assert.match(wrong?.last_error ?? '', /payload of another shape/)
  })
})

describe('an event', () => {
  test('is handled if and only if its cause is committed', async () => {
    const { events, handler } = listener()
    const failing = app.tenant(acme).transaction('cause', async (tx: Tx) => {
      await publish(tx, topicOf('order.placed'), { order_id: 1 })
      throw new Error('the cause failed')
    })
    await assert.rejects(failing, /the cause failed/)
    assert.equal(await deliverDue(worker, { 'order.placed': handler }, { slots: 10 }), 0)
    const id = await emit(acme, 'order.placed', { order_id: 2, lines: ['a', null] })
    assert.equal(await deliverDue(worker, { 'order.placed': handler }, { slots: 10 }), 1)
    assert.equal(await deliverDue(worker, { 'order.placed': handler }, { slots: 10 }), 0)
    const [event, ...more] = events
    assert.deepEqual(more, [])
    assert.ok(event)
    const { created_at, ...rest } = event
    assert.deepEqual(rest, {
      tenant_ref: acme,
      id,
      type: 'order.placed',
      payload: { order_id: 2, lines: ['a', null] },
    })
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
  })

  test('carries any JSON value, and refuses one that is too large or has no JSON form', async () => {
    const { events, handler } = listener()
    for (const payload of [[1, 2], 'text', 7, null]) await emit(acme, 'any', payload)
    await assert.rejects(emit(acme, 'any', Symbol('none')), TypeError)
    await assert.rejects(emit(acme, 'any', 'x'.repeat(65_536)), RangeError)
    await deliverDue(worker, { any: handler }, { slots: 10 })
    const seen = events.map(({ payload }) => JSON.stringify(payload)).toSorted()
    assert.deepEqual(seen, ['"text"', '7', '[1,2]', 'null'])
  })

  test('reaches its handler with the database of its own store', async () => {
    await emit(acme, 'a')
    await emit(bolt, 'a')
    const seen: string[] = []
    const handler: Handler = async (event, db) => {
      assert.equal(db.tenant, event.tenant_ref)
      await db.transaction('act', (tx) => publish(tx, topicOf('b'), {}))
      seen.push(db.tenant)
    }
    await deliverDue(worker, { a: handler }, { slots: 10 })
    assert.deepEqual(seen.toSorted(), [acme, bolt].toSorted())
  })

  test('an event of a type that a worker does not know yet waits for a newer worker', async () => {
    await emit(acme, 'of.the.next.version')
    await deliverDue(worker, {}, { slots: 10 })
    const [waiting] = await listRows()
    assert.deepEqual([waiting?.handled, waiting?.attempt_count], [false, 1])
    assert.match(waiting?.last_error ?? '', /has no handler for it/)
    await makeDue()
    const { events, handler } = listener()
    await deliverDue(worker, { 'of.the.next.version': handler }, { slots: 10 })
    assert.equal(events.length, 1)
    assert.deepEqual(
      (await listRows()).map(({ handled }) => handled),
      [true],
    )
  })

  test('is handled once by 6 workers at the same time', async () => {
    const { events, handler } = listener()
    await Promise.all(Array.from({ length: 60 }, () => emit(acme, 'a')))
    const drain = async () => {
      while ((await deliverDue(worker, { a: handler }, { slots: 4 })) > 0);
    }
    await Promise.all(Array.from({ length: 6 }, drain))
    assert.equal(new Set(events.map(({ id }) => id)).size, 60)
    assert.equal(events.length, 60)
  })

  test('keeps its lease while its handler runs for longer than one lease', async () => {
    await emit(acme, 'slow')
    const end = Promise.withResolvers<void>()
    let times = 0
    const handler: Handler = async () => {
      times++
      await end.promise
    }
    // Long enough to be renewed in time on a busy machine.
    const step = () => deliverDue(worker, { slow: handler }, { slots: 1, leaseSeconds: 3 })
    const first = step()
    await until('it has begun', () => times === 1)
    const readEnd = async () =>
      (await query<{ end: string }>('select lease_until::text as end from outbox'))[0]?.end
    const begun = await readEnd()
    await until('it is renewed', async () => (await readEnd()) !== begun)
    assert.equal(await step(), 0)
    end.resolve()
    assert.equal(await first, 1)
    assert.equal(times, 1)
  })
})

describe('a handler that fails', () => {
  const failing: Handler = () => Promise.reject(new Error('card 4111 1111 1111 1111\0 refused'))

  test('is retried after 1 s, 5 s, 30 s, 5 min, then every hour', async () => {
    await emit(acme, 'a')
    for (const [i, waits] of [1, 5, 30, 300, 3_600, 3_600].entries()) {
      const before = await readClock()
      assert.equal(await deliverDue(worker, { a: failing }, { slots: 10 }), 1)
      const after = await readClock()
      const [row] = await listRows()
      assert.deepEqual([row?.attempt_count, row?.handled, row?.lease_token], [i + 1, false, null])
      const failedAt = Number(row?.next_attempt_at) - waits * 1_000
      assert.ok(failedAt >= before && failedAt <= after, `not ${waits} s after it failed`)
      // On a busy machine, a second may have passed by now.
      await postpone()
      assert.equal(await deliverDue(worker, { a: failing }, { slots: 10 }), 0)
      await makeDue()
    }
    const { events, handler } = listener()
    await deliverDue(worker, { a: handler }, { slots: 10 })
    assert.equal(events.length, 1)
    const [row] = await listRows()
    assert.deepEqual([row?.attempt_count, row?.handled, row?.last_error], [7, true, null])
  })

  test('leaves its message for the operator, without a card number', async () => {
    await emit(acme, 'a')
    await deliverDue(worker, { a: failing }, { slots: 10 })
    assert.equal((await listRows())[0]?.last_error, 'Error: card [card number] refused')
  })

  test('does not delay other events', async () => {
    const { events, handler } = listener()
    for (const type of ['bad', 'good', 'good']) await emit(acme, type)
    await deliverDue(worker, { bad: failing, good: handler }, { slots: 10 })
    assert.equal(events.length, 2)
  })

  test('a handler that fails for one store with many events does not delay another store', async () => {
    await app.tenant(acme).transaction('many', async (tx) => {
      for (let i = 0; i < 200; i++) await publish(tx, topicOf('bad'), { i })
    })
    await emit(bolt, 'good')
    const { events, handler } = listener()
    await deliverDue(worker, { bad: failing, good: handler }, { slots: 5 })
    assert.equal(events.length, 1)
  })
})

describe('a worker', () => {
  test('a worker that is told to stop starts nothing, and releases its leases', async () => {
    await emit(acme, 'a')
    const { events, handler } = listener()
    await deliverDue(worker, { a: handler }, { slots: 10, signal: AbortSignal.abort() })
    assert.equal(events.length, 0)
    assert.deepEqual((await listRows())[0]?.attempt_count, 0)
    assert.equal(await deliverDue(worker, { a: handler }, { slots: 10 }), 1)
  })

  test('a worker that lost its lease leaves the result to the worker that has it now', async () => {
    await emit(acme, 'a')
    const { events, handler } = listener()
    const losing: Handler = async () => {
      await query("update outbox set lease_until = now() - interval '1 s'")
      await deliverDue(worker, { a: handler }, { slots: 10 })
      throw new Error('too late')
    }
    await deliverDue(worker, { a: losing }, { slots: 10 })
    assert.equal(events.length, 1)
    const [row] = await listRows()
    assert.deepEqual([row?.attempt_count, row?.handled, row?.last_error], [1, true, null])
  })
})

test('handled events are deleted after 7 days, others never', async () => {
  for (const tenant of [acme, bolt]) for (const type of ['old', 'young']) await emit(tenant, type)
  const { handler } = listener()
  await deliverDue(worker, { old: handler, young: handler }, { slots: 10 })
  await emit(acme, 'waiting')
  await query("update outbox set created_at = now() - interval '9 days'")
  await query("update outbox set handled_at = now() - interval '8 days' where type = 'old'")
  await query("update outbox set handled_at = now() - interval '6 days' where type = 'young'")
  assert.equal(await deleteHandled(worker), 2)
  assert.equal(await deleteHandled(worker), 0)
  const left = await query<{ type: string }>('select type from outbox order by type')
  assert.deepEqual(
    left.map(({ type }) => type),
    ['waiting', 'young', 'young'],
  )
})

test('the API process can publish an event, and neither claim nor change one', async () => {
  await emit(acme, 'a')
  const { handler } = listener()
  // It sees no rows of other stores, and so cannot even learn which stores have work.
  await assert.rejects(deliverDue(app, { a: handler }, { slots: 1 }), { code: 'FD001' })
  const rewrite = app
    .tenant(acme)
    .run(sql`update outbox set handled_at = now() where tenant_ref = ${acme}`)
  await assert.rejects(rewrite, { code: '42501' })
})
