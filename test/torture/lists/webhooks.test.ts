import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listDeliveries } from '../../../src/modules/webhooks/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

const [BUSY, QUIET, NONE] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)

test('a page of deliveries reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into webhook_events (tenant_ref, type, payload, created_at, sequence)
      select 'big', case when n % 1000 = 0 then 'rare' else 'often' end, '{}',
             timestamptz '2026-01-01' + n * interval '1 s', n
        from generate_series(1, ${MANY}) n`)
    await admin.query(`
      insert into webhook_deliveries (tenant_ref, event_id, subscription_id, event_type,
                                      endpoint_url, status, next_retry_at, delivered_at,
                                      dead_lettered_at, created_at)
      select 'big', id, case when sequence < 10 then '${QUIET}' else '${BUSY}' end::uuid, type,
             'https://x.example/', status, case when status = 'pending' then now() end,
             case when status = 'delivered' then now() end,
             case when status = 'dead_lettered' then now() end, created_at
        from webhook_events,
             lateral (select case when sequence < 6 then 'pending' when sequence < 12
                                  then 'dead_lettered' else 'delivered' end as status) as its`)
    await admin.query(`
      insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at,
                                 attempt_count, ladder_from, created_at)
      select 'big', id, subscription_id, event_id, now(), 0, 0,
             case when created_at > '2026-01-01 00:00:01' then created_at end
        from webhook_deliveries
       where status = 'pending' and created_at < '2026-01-01 00:00:04'`)
    await admin.query(`
      insert into webhook_lanes (tenant_ref, lease_token, lane, lease_until, subscription_id,
                                 deliveries)
      select 'big', gen_random_uuid(), 0, now(), subscription_id, array[id]
        from webhook_deliveries where created_at = '2026-01-01 00:00:04'`)
    await admin.query(`
      update webhook_events set payload = null, data = '{}', created_at = null, sequence = null
       where sequence = 5`)
  })
  await lists.reads(listDeliveries, {}, { expected: 10 })
  const deep = { limit: 10, offset: MANY - 5 }
  await lists.reads(listDeliveries, {}, { expected: 5, page: deep, pagesMax: 400 })
  await lists.reads(listDeliveries, { status: 'delivered' }, { expected: 10, pagesMax: 500 })
  await lists.reads(listDeliveries, { status: 'dead_lettered' }, { expected: 6 })
  // Three wait in the queue, one is in a lane, and the event of one has no bytes yet.
  await lists.reads(listDeliveries, { status: 'pending' }, { expected: 5 })
  await lists.reads(listDeliveries, { status: 'pending', subscription_id: QUIET }, { expected: 5 })
  await lists.reads(listDeliveries, { status: 'pending', event_type: 'rare' }, { expected: 0 })
  await lists.reads(listDeliveries, { event_type: 'often' }, { expected: 10, pagesMax: 500 })
  await lists.reads(listDeliveries, { event_type: 'rare' }, { expected: 10 })
  await lists.reads(listDeliveries, { event_type: 'none' }, { expected: 0 })
  await lists.reads(listDeliveries, { subscription_id: BUSY }, { expected: 10 })
  await lists.reads(listDeliveries, { subscription_id: QUIET }, { expected: 9 })
  await lists.reads(listDeliveries, { subscription_id: NONE }, { expected: 0 })
  await lists.reads(listDeliveries, { event_id: NONE }, { expected: 0 })

  await t.test('a delivery that succeeds is updated without a write to any index', async () => {
    await lists.admin.query(`
      reset role;
      begin;
      update webhook_deliveries
         set status = 'delivered', delivered_at = now(), next_retry_at = null, attempt_count = 1
       where status = 'pending'`)
    const { rows } = await lists.admin.query(`
      select sum(n_tup_upd)::int as updated, sum(n_tup_hot_upd)::int as hot
        from pg_stat_xact_user_tables
       where relname ~ '^webhook_deliveries_'`)
    await lists.admin.query('rollback')
    assert.deepEqual(rows, [{ updated: 5, hot: 5 }])
  })
})
