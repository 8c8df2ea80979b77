import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../harness/eventually.ts'
import { startProcess } from '../../harness/process.ts'
import { listMisplaced, openWebhooksApp, type WebhooksApp } from './setup.ts'

/** How often a worker is killed. The long torture run sets more. */
const KILLS = Number(process.env.WEBHOOK_KILLS ?? 1)
const STORES = 4
const EVENTS = 15 * KILLS

test('killed workers lose no event and record no delivery twice', async (t) => {
  const app = await openWebhooksApp(t)
  const start = () =>
    startProcess(t, {
      role: 'worker',
      env: {
        DATABASE_URL: app.database.url,
        MIGRATE_ON_START: 'false',
        SECRET_KEY: app.database.secretKey,
        WEBHOOK_TEST_TARGETS: `127.0.0.1:${app.receiver.port}`,
      },
    })
  // Slow enough that a request is under way at every kill.
  app.receiver.answer((response) => void setTimeout(() => response.end(), 30))
  const tenants = Array.from({ length: STORES }, (_, n) => `store-${n}`)
  for (const tenant of tenants) await app.register(await app.merchant(tenant))
  const placed = await Promise.all(
    tenants.flatMap((tenant) => Array.from({ length: EVENTS }, (_, n) => app.place(tenant, { n }))),
  )
  let worker = await start()
  for (let kill = 0; kill < KILLS; kill++) {
    const before = app.receiver.received.length
    await until('it sends', () => app.receiver.received.length > before + 3)
    worker.kill('SIGKILL')
    await worker.exit
    await endLeases(app)
    worker = await start()
  }
  const left = async () => {
    const { rows } = await app.admin.query(
      `select count(*)::int as left from webhook_deliveries where status <> 'delivered'`,
    )
    return rows[0].left
  }
  await until('all is delivered', async () => (await left()) === 0)

  const seen = new Map<string, Set<string>>()
  for (const { headers, body } of app.receiver.received) {
    const id = String(headers['x-webhook-event-id'])
    seen.set(id, (seen.get(id) ?? new Set()).add(body.toString('hex')))
  }
  assert.deepEqual([...seen.keys()].sort(), placed.sort(), 'each event arrived, and no other')
  assert.ok([...seen.values()].every((bodies) => bodies.size === 1))
  const { rows } = await app.admin.query(
    `select count(*)::int as rows, count(distinct (subscription_id, event_id))::int as pairs,
            sum(attempt_count)::int as attempts,
            (select count(*)::int from webhook_attempts) as written
       from webhook_deliveries`,
  )
  const all = placed.length
  assert.deepEqual(rows, [{ rows: all, pairs: all, attempts: all, written: all }])
  assert.deepEqual(await listMisplaced(app.admin), [])
})

/** Ends the leases at once, which would take half a minute. The long run waits for them. */
async function endLeases(app: WebhooksApp) {
  if (KILLS > 1) return sleep(100)
  await app.admin.query('update webhook_lanes set lease_until = now()')
}
