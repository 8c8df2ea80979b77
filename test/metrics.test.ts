import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startWorker } from '../src/compose/worker.ts'
import { readQueueFacts } from '../src/db/queue-facts.ts'
import { openMetrics } from '../src/http/metrics.ts'
import { openTestApp } from './harness/app.ts'
import { until } from './harness/eventually.ts'
import { openSuperuser } from './harness/superuser.ts'

/** The names of the table of metrics in the document. */
async function readDocument(): Promise<string[]> {
  const text = await readFile(new URL('../docs/operating/running.md', import.meta.url), 'utf8')
  const [, chapter = ''] = /\n### Metrics\n([\s\S]*?)\n## /.exec(text) ?? []
  return [...chapter.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name ?? '').sort()
}

test('the metrics', async (t) => {
  const metrics = openMetrics()
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  metrics.watchQueues(() => readQueueFacts(app.runtime.operatorDatabase.allStores))
  const server = await metrics.serve('127.0.0.1', 0)
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const read = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()

  await t.test('are all described in the document, which describes no other metric', async () => {
    const names = [...(await read()).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? '')
    const own = names.filter((name) => !/^(process|nodejs)_/.test(name)).sort()
    assert.deepEqual(own, await readDocument())
    assert.match(await read(), /^queue_depth\{queue="webhooks"\} 0$/m)
    assert.match(await read(), /^unsettled_payments 0$/m)
  })

  await t.test('show when each loop of a worker last succeeded', async () => {
    const worker = await startWorker({ ...app.runtime, metrics })
    const loopsIn = (text: string) => [...text.matchAll(/^loop_last_success\w+\{loop="(.+)"\} /gm)]
    try {
      await until(
        'every loop has succeeded',
        async () => loopsIn(await read()).length === worker.loops,
      )
    } finally {
      await worker.stop()
    }
    assert.match(await read(), /^loop_failures_total\{loop="outbox"\} 0$/m)
  })

  await t.test('count queued work and dead letters over all stores', async () => {
    await app.operator.post('/v1/stores', {
      tenant_ref: 'acme',
      display_name: 'Acme',
      owner_email: 'o@x.example',
    })
    await superuser.query(`
      delete from outbox;
      insert into mails (recipient, subject, body, next_attempt_at)
      values ('a@x.example', 's', 'b', now() - interval '1 hour'), ('b@x.example', 's', 'b', null);
      insert into outbox (tenant_ref, type, payload, next_attempt_at)
      values ('acme', 'test.v1', '{}', now() + interval '1 hour');
      insert into shopper_mails (tenant_ref, kind, about_id, state, reason, next_attempt_at)
      values ('acme', 'order_placed', gen_random_uuid(), 'queued', null, now() - interval '1 hour'),
             ('acme', 'order_placed', gen_random_uuid(), 'dead', 'refused', null);
      with started as (
        insert into campaigns (tenant_ref, name, channel, status, starts_at)
        values ('acme', 'May', 'email', 'active', now()) returning tenant_ref, id)
      insert into campaign_mailings (tenant_ref, id, due_at)
      select tenant_ref, id, now() - interval '1 hour' from started`)
    const { queues, deadLetters, unsettled } = await readQueueFacts(
      app.runtime.operatorDatabase.allStores,
    )
    const byKind = Object.fromEntries(queues.map(({ kind, ...facts }) => [kind, facts]))
    assert.equal(byKind.mail?.count, 1)
    assert.ok(Math.abs((byKind.mail?.oldest_seconds ?? 0) - 3_600) < 60)
    assert.equal(byKind.shopper_mail?.count, 1)
    assert.ok(Math.abs((byKind.shopper_mail?.oldest_seconds ?? 0) - 3_600) < 60)
    assert.equal(byKind.campaign_mail?.count, 1)
    assert.deepEqual(byKind.outbox, { count: 1, oldest_seconds: 0 }, 'it waits, and is not due')
    assert.deepEqual(
      deadLetters.map(({ kind, count }) => [kind, count]),
      [
        ['webhooks', 0],
        ['mail', 1],
        ['shopper_mail', 1],
        ['provider_events', 0],
      ],
    )
    assert.deepEqual(unsettled, { kind: 'unsettled', count: 0, oldest_seconds: 0 })
  })

  await t.test('leave out figures that cannot be read, and say so', async (t) => {
    const other = openMetrics()
    other.watchQueues(() => Promise.reject(new Error('the database is away')))
    const second = await other.serve('127.0.0.1', 0)
    t.after(() => second.close())
    const { port } = second.address() as AddressInfo
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    assert.match(text, /^queue_figures_up 0$/m)
    assert.doesNotMatch(text, /^(queue_depth\{|unsettled_payments )/m)
  })
})
