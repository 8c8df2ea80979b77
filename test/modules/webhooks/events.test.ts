import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TenantDb, Tx } from '../../../src/db/database.ts'
import { eraseSome } from '../../../src/modules/webhooks/customer-data.ts'
import { eraseDeliveredEvents, numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import * as queries from '../../../src/modules/webhooks/queries.ts'
import { redriveOne } from '../../../src/modules/webhooks/redrive-queries.ts'
import { readFeed } from '../../../src/modules/webhooks/service.ts'
import { openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { emit, PLACED } from './setup.ts'

test('events', async (t) => {
  const app = await openTestApp(t)

  const place = (db: TenantDb, data: Record<string, unknown>, customer_ref?: string) =>
    db.transaction('test: emit', (tx) =>
      emit(tx, { type: PLACED, data, ...(customer_ref && { customer_ref }) }),
    )

  const erase = (tx: Tx, customer_ref: string) =>
    eraseSome(tx, customer_ref, { before: new Date().toISOString(), limit: 100 })

  await t.test('emits nothing from a transaction that was rolled back', async () => {
    const db = await app.store('rolled-back')
    const failing = db.transaction('test: emit', async (tx) => {
      await emit(tx, { type: PLACED, data: {} })
      throw new Error('changed my mind')
    })
    await assert.rejects(failing, /changed my mind/)
    assert.equal(await numberNewEvents(app.runtime.workerDatabase), 0)
    assert.deepEqual((await readFeed(db, 0, 10)).events, [])
  })

  await t.test('numbers events without gaps, with several workers at the same time', async () => {
    const db = await app.store('busy')
    const quiet = await app.store('quiet')
    await place(quiet, { n: 0 })
    const emitting = Array.from({ length: 300 }, (_, n) =>
      db.transaction('test: emit', async (tx) => {
        await emit(tx, { type: PLACED, data: { n } })
        if (n % 7 === 0) throw new Error('rolled back')
      }),
    )
    const numberAll = async () => {
      for (let n = 0; n < 20; n++) await numberNewEvents(app.runtime.workerDatabase)
    }
    await Promise.allSettled([...emitting, numberAll(), numberAll(), numberAll()])
    await numberAll()
    const feed = await readFeed(db, 0, 1_000)
    assert.equal(feed.events.length, 257)
    assert.equal(feed.sealed_to, 257)
    assert.deepEqual(
      feed.events.map(({ sequence }) => sequence),
      Array.from({ length: 257 }, (_, n) => n + 1),
    )
    assert.equal(new Set(feed.events.map(({ data }) => data.n)).size, 257)
    assert.ok(feed.events.every(({ data, sequence }) => data.sequence === sequence))
    assert.equal((await readFeed(quiet, 0, 10)).sealed_to, 1)
  })

  await t.test('numbers events in the order in which they were emitted', async () => {
    const db = await app.store('ordered')
    const emitNumber = (n: number) => (tx: Tx) => emit(tx, { type: PLACED, data: { n } })
    const first = Promise.withResolvers<void>()
    // This transaction begins before the other and emits after it, as one that waited for a lock does.
    const waiting = db.transaction('test: emit late', async (tx) => {
      await queries.countSubscriptions(tx)
      await first.promise
      await emitNumber(20)(tx)
    })
    await db.transaction('test: emit many', async (tx) => {
      for (let n = 0; n < 20; n++) await emitNumber(n)(tx)
    })
    first.resolve()
    await waiting
    await numberNewEvents(app.runtime.workerDatabase)
    const { events } = await readFeed(db, 0, 100)
    assert.deepEqual(
      events.map(({ data }) => data.n),
      Array.from({ length: 21 }, (_, n) => n),
    )
  })

  await t.test(
    'are numbered for one store while the feeds of other stores are broken',
    async () => {
      const stores = await Promise.all(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((n) => app.store(`f-${n}`)),
      )
      for (const db of stores) await place(db, {})
      await numberNewEvents(app.runtime.workerDatabase)
      const admin = await app.database.openAdmin()
      const broken = `tenant_ref like 'f-%' and tenant_ref <> 'f-c'`
      // Makes the next numbers collide with numbers in use.
      await admin.query(`update webhook_feeds set sealed_to = 0 where ${broken}`)
      for (const db of stores) await place(db, {})
      const failed = await numberNewEvents(app.runtime.workerDatabase).catch(({ code }) => code)
      await admin.query(`update webhook_feeds set sealed_to = 1 where ${broken}`)
      assert.equal(failed, '23505')
      for (const db of stores) {
        const { sealed_to } = await readFeed(db, 0, 10)
        assert.equal(sealed_to, db.tenant === 'f-c' ? 2 : 1)
      }
      await numberNewEvents(app.runtime.workerDatabase)
    },
  )

  await t.test(
    'keeps the bytes of an envelope as emitted, with the number at the end',
    async () => {
      const db = await app.store('exact')
      const data = { z: 1, a: { text: 'café 😀 \u2028 "quoted"' }, last: [] }
      const { event_id } = await place(db, data)
      await place(db, {})
      await numberNewEvents(app.runtime.workerDatabase)
      const admin = await app.database.openAdmin()
      const { rows } = await admin.query(
        `select payload, created_at from webhook_events where tenant_ref = 'exact' order by sequence`,
      )
      const at = rows[0].created_at.toISOString()
      assert.equal(
        rows[0].payload.toString(),
        `{"id":"${event_id}","type":"${PLACED}","tenant_ref":"exact","created_at":"${at}",` +
          `"data":{"z":1,"a":{"text":"café 😀 \u2028 \\"quoted\\""},"last":[],"sequence":1}}`,
      )
      assert.match(rows[1].payload.toString(), /"data":\{"sequence":2\}\}$/)
    },
  )

  await t.test(
    'erases the data of a customer from events at once, or after their delivery',
    async () => {
      const db = await app.store('erasing')
      const merchant = await app.merchant('erasing')
      const early = await place(db, { email: 'kim@example.com' }, 'kim')
      await numberNewEvents(app.runtime.workerDatabase)
      const hook = { url: 'https://shop.example/hook', events: [PLACED] }
      assert.equal((await merchant.post('/v1/merchant/webhooks', hook)).status, 201)
      const late = await place(db, { email: 'kim@example.com' }, 'kim')
      const other = await place(db, { email: 'lee@example.com' }, 'lee')
      await numberNewEvents(app.runtime.workerDatabase)
      await db.transaction('test: erase', (tx) => erase(tx, 'kim'))

      const dataOf = async (id: string) =>
        (await readFeed(db, 0, 10)).events.find((each) => each.id === id)?.data
      assert.deepEqual(await dataOf(early.event_id), { erased: true, sequence: 1 })
      assert.equal((await dataOf(late.event_id))?.email, 'kim@example.com')
      assert.equal(await eraseDeliveredEvents(app.runtime.workerDatabase), 0)

      const admin = await app.database.openAdmin()
      await admin.query(
        `update webhook_deliveries set status = 'delivered', delivered_at = now(), next_retry_at = null`,
      )
      assert.equal(await eraseDeliveredEvents(app.runtime.workerDatabase), 1)
      assert.deepEqual(await dataOf(late.event_id), { erased: true, sequence: 2 })
      assert.equal((await dataOf(other.event_id))?.email, 'lee@example.com')
    },
  )

  await t.test('keep their content while they are redriven, until they are delivered', async () => {
    const db = await app.store('again')
    const merchant = await app.merchant('again')
    const hook = { url: 'https://shop.example/again', events: [PLACED] }
    assert.equal((await merchant.post('/v1/merchant/webhooks', hook)).status, 201)
    const { event_id } = await place(db, { email: 'kim@example.com' }, 'kim')
    await numberNewEvents(app.runtime.workerDatabase)
    const admin = await app.database.openAdmin()
    const { rows } = await admin.query(
      `with sent as (delete from webhook_queue where event_id = $1)
       update webhook_deliveries set status = 'delivered', delivered_at = now(), next_retry_at = null
        where event_id = $1
       returning id`,
      [event_id],
    )
    const [redriven, erasing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const redriving = db.transaction('test: redrive', async (tx) => {
      await queries.lockContents(tx)
      assert.equal((await redriveOne(tx, rows[0].id))?.redriven, 1)
      redriven.resolve()
      await erasing.promise
    })
    await redriven.promise
    const erased = db.transaction('test: erase', (tx) => erase(tx, 'kim'))
    await until('the erasure waits', async () => {
      const { rows } = await admin.query(
        `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows.length > 0
    })
    erasing.resolve()
    await Promise.all([redriving, erased])
    const [event] = (await readFeed(db, 0, 10)).events
    assert.equal(event?.data.email, 'kim@example.com')
  })

  await t.test('limits the bytes of a page of the feed', async () => {
    const db = await app.store('large')
    for (let n = 0; n < 25; n++) await place(db, { n, padding: 'x'.repeat(250_000) })
    while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
    const first = await readFeed(db, 0, 500)
    assert.ok(first.events.length > 0 && first.events.length < 25, `${first.events.length} events`)
    const seen: unknown[] = []
    for (let page = first; page.events.length > 0; ) {
      seen.push(...page.events.map(({ data }) => data.n))
      page = await readFeed(db, page.events.at(-1)?.sequence ?? 0, 500)
    }
    assert.deepEqual(seen, [...Array(25).keys()])
  })
})
