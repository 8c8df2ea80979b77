import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepare } from '../../../src/db/sql.ts'
import { LANE_LENGTH, openLanes } from '../../../src/modules/webhooks/dispatch-queries.ts'
import { openTestDatabase } from '../../harness/database.ts'

const MANY = 3_000

test('a claim reads only rows that it may take, with thousands queued and thousands of deleted endpoints', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('acme', 'Acme')`)
  await admin.query(`
    insert into webhook_subscriptions (tenant_ref, url, events, active, secret_sealed, deleted_at)
    select 'acme', 'https://x.example/', '{a}', n = 1,
           case when n = 1 then '\\x00'::bytea end, case when n > 1 then now() end
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    with made as (
      insert into webhook_events (tenant_ref, type, payload, created_at, sequence)
      select 'acme', 'a', '{}', now(), n from generate_series(1, ${MANY}) n returning id
    )
    insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at,
                               attempt_count, ladder_from)
    select 'acme', gen_random_uuid(), s.id, made.id, now(), 0, 0
      from made, webhook_subscriptions as s
     where s.active`)
  await admin.query('vacuum analyze webhook_subscriptions, webhook_events, webhook_queue')
  const plans: string[] = []
  admin.on('notice', ({ message }) => plans.push(message ?? ''))
  await admin.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on;
    set client_min_messages = log;
    set plan_cache_mode = force_generic_plan;
    set role fd_worker;
    set app.tenant = 'acme'`)
  const token = '00000000-0000-4000-8000-000000000001'
  const options = { limit: 16, perEndpoint: 2, healthyOnly: false }
  const claim = prepare(openLanes({ tenant: 'acme' }, token, options))
  const { rowCount } = await admin.query(claim)

  assert.ok(rowCount !== null && rowCount >= 2 && rowCount <= 2 * LANE_LENGTH, `${rowCount} taken`)
  const plan = plans.join('\n')
  const read = [...plan.matchAll(/actual time=\S+ rows=(\d+)|Rows Removed by \S+ \S*?(\d+)/g)]
  const most = Math.max(...read.map(([, rows, removed]) => Number(rows ?? removed)))
  assert.ok(read.length > 20 && most <= 2 * LANE_LENGTH, `${most} rows in\n${plan}`)
})
