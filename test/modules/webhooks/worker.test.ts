import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startWorker } from '../../../src/compose/worker.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { until } from '../../harness/eventually.ts'
import { openServers } from '../../harness/servers.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { listMisplaced, openWebhooksApp, theDelivery, type WebhooksApp } from './setup.ts'

/** The longest time in which this machine sends an event with a direct call of the dispatcher. */
async function paceOf(app: WebhooksApp): Promise<number> {
  let slowest = 0
  for (let n = 0; n < 5; n++) {
    await app.place('acme', { pace: n })
    const startedAt = performance.now()
    assert.equal(await app.dispatch(), 1)
    slowest = Math.max(slowest, performance.now() - startedAt)
  }
  return slowest
}

test('the worker sends an event a moment after its commit, which wakes it', async (t) => {
  const app = await openWebhooksApp(t)
  const acme = await app.merchant('acme')
  await app.register(acme)
  const pace = await paceOf(app)
  const sent = app.receiver.received.length
  const worker = await startWorker(app.runtime)
  t.after(() => worker.stop())
  await app.place('acme', { warm: true })
  await until('the first is there', () => app.receiver.received.length === sent + 1)
  const waits: number[] = []
  for (let n = 2; n <= 12; n++) {
    await app.place('acme', { n })
    const committedAt = performance.now()
    await until('it is there', () => app.receiver.received.length === sent + n)
    waits.push(performance.now() - committedAt)
  }
  waits.sort((a, b) => a - b)
  // The loops look twice a second by themselves. Half of the events are sent sooner: their commits woke the worker.
  assert.ok((waits[5] ?? 0) < 250 + 5 * pace, `half of them take more than ${waits[5]} ms`)
})

test('no store waits for another store whose events cannot be numbered', async (t) => {
  const logger = pino({ enabled: false })
  const app = await openWebhooksApp(t)
  await app.register(await app.merchant('acme'))
  await app.place('broken')
  await numberNewEvents(app.runtime.workerDatabase)
  // Makes the next number collide with one in use.
  await app.admin.query(`update webhook_feeds set sealed_to = 0 where tenant_ref = 'broken'`)
  await app.place('broken')
  let failed = 0
  const count = () => {
    failed++
    return logger
  }
  const worker = await startWorker({
    ...app.runtime,
    logger: Object.assign(logger, { error: count }),
  })
  t.after(() => worker.stop())
  // A loop that pauses twice as long after each failure would not get through these in time.
  for (let n = 1; n <= 10; n++) {
    await until('it has failed once more', () => failed >= n)
    await app.place('broken')
  }
  await app.place('acme')
  await until('the other store is served', () => app.receiver.received.length === 1)
})

test('a commit wakes the worker of another process too', async (t) => {
  const app = await openWebhooksApp(t)
  const other = await openWebhooksApp(t, {
    database: app.database,
    targets: [app.receiver.port],
  })
  const acme = await app.merchant('acme')
  await app.register(acme)
  const pace = await paceOf(app)
  const sent = app.receiver.received.length
  const worker = await startWorker(other.runtime)
  t.after(() => worker.stop())
  await app.place('acme', { warm: true })
  await until('the first is there', () => app.receiver.received.length === sent + 1)
  const waits: number[] = []
  for (let n = 2; n <= 8; n++) {
    await app.place('acme', { n })
    const committedAt = performance.now()
    await until('it is there', () => app.receiver.received.length === sent + n)
    waits.push(performance.now() - committedAt)
  }
  waits.sort((a, b) => a - b)
  assert.ok((waits[3] ?? 0) < 250 + 5 * pace, `half of them take more than ${waits[3]} ms`)
})

test('an endpoint has at most two attempts at a time and a store sixteen, and no other store is delayed', async (t) => {
  const servers = openServers()
  t.after(() => servers.close())
  let open = 0
  let most = 0
  const hanging = await servers.http((request, response) => {
    open++
    most = Math.max(most, open)
    response.on('close', () => open--)
    request.resume()
  })
  const app = await openWebhooksApp(t, { targets: [hanging] })
  const hangingStore = await app.merchant('hanging')
  await app.register(hangingStore, `http://127.0.0.1:${hanging}/`)
  const healthy = await app.merchant('healthy')
  await app.register(healthy)
  for (let n = 0; n < 30; n++) await app.place('hanging', { n })
  const worker = await startWorker(app.runtime)
  t.after(async () => {
    await servers.close()
    await worker.stop()
  })
  await until('both are under way', () => open === 2)
  for (let n = 1; n <= 5; n++) {
    const startedAt = performance.now()
    await app.place('healthy', { n })
    await until('it is there', () => app.receiver.received.length === n)
    assert.ok(performance.now() - startedAt < 8_000, 'less than one that hangs')
  }
  assert.equal(most, 2)

  const ports = Array.from({ length: 19 }, (_, n) => `http://127.0.0.1:${hanging}/${n}`)
  for (const url of ports) await app.register(hangingStore, url)
  await app.place('hanging')
  await until('the store has all it may', () => open === 16)
  await app.place('healthy')
  await until('it is there', () => app.receiver.received.length === 6)
  assert.equal(most, 16)
})

test('a worker that is stopped finishes its requests', async (t) => {
  const app = await openWebhooksApp(t)
  const acme = await app.merchant('acme')
  await app.register(acme)
  const worker = await startWorker(app.runtime)
  const release = Promise.withResolvers<void>()
  app.receiver.answer(async (response) => {
    await release.promise
    response.end()
  })
  await app.place('acme')
  await until('it is under way', () => app.receiver.received.length === 1)
  const stopped = worker.stop()
  release.resolve()
  await stopped
  assert.equal((await theDelivery(acme)).status, 'delivered')
})

test('no event is lost and none recorded twice when database connections break', async (t) => {
  const app = await openWebhooksApp(t)
  const superuser = await openSuperuser(t, app.database)
  const acme = await app.merchant('acme')
  await app.register(acme)
  app.receiver.answer((response) => void setTimeout(() => response.end(), 20))
  const placed = await Promise.all(Array.from({ length: 30 }, (_, n) => app.place('acme', { n })))
  const worker = await startWorker(app.runtime)
  t.after(() => worker.stop())
  for (let cut = 1; cut <= 3; cut++) {
    await until('it sends', () => app.receiver.received.length >= cut * 4)
    await superuser.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename like 'fd%'`,
    )
    // Ends the leases of interrupted lanes, which would expire after 30 seconds.
    await superuser.query('update webhook_lanes set lease_until = now()')
  }
  const countDelivered = async () => {
    const { rows } = await superuser.query(
      `select count(*)::int as n, sum(attempt_count)::int as attempts,
              (select count(*)::int from webhook_attempts) as written
         from webhook_deliveries where status = 'delivered'`,
    )
    return rows[0]
  }
  const all = placed.length
  await until('all is delivered', async () => (await countDelivered()).n === all)
  assert.deepEqual(await countDelivered(), { n: all, attempts: all, written: all })
  assert.deepEqual(await listMisplaced(app.admin), [])
  const ids = new Set(app.receiver.received.map(({ headers }) => headers['x-webhook-event-id']))
  assert.deepEqual([...ids].sort(), placed.sort())
})
