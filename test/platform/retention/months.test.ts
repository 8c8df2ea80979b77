import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { LIVES } from '../../../src/compose/lives.ts'
import { listLoops } from '../../../src/compose/worker.ts'
import type { BlobStore } from '../../../src/platform/blobs.ts'
import { dropOldMonths, makePartitions } from '../../../src/platform/partitions.ts'
import { openIdleRuntime } from '../../harness/idle-runtime.ts'
import {
  addAudit,
  addEvents,
  idAgo,
  lineOf,
  monthAgo,
  open,
  PERIODS,
  quiet,
  readAll,
  WEBHOOK_TABLES,
} from './setup.ts'

describe('the lives of tables', () => {
  test('name every table of the schema, and no other', async () => {
    const schema = await readFile(new URL('../../../generated/schema.sql', import.meta.url), 'utf8')
    const tables = [...schema.matchAll(/^create (?:unlogged )?table (\w+) /gm)].map(
      ([, name]) => name,
    )
    assert.deepEqual(Object.keys(LIVES).sort(), tables.sort())
  })

  test('name loops that run, and owners that are tables', async (t) => {
    const loops = new Set((await listLoops(await openIdleRuntime(t))).map(({ name }) => name))
    for (const [table, life] of Object.entries(LIVES)) {
      if ('loop' in life) assert.ok(loops.has(life.loop), `${table}: there is no loop ${life.loop}`)
      if ('owner' in life) assert.ok(life.owner in LIVES, `${table}: there is no ${life.owner}`)
    }
  })
})

describe('partitions', () => {
  test('are created ahead, with row level security, and a repetition creates nothing', async (t) => {
    const { admin, worker } = await open(t)
    await makePartitions(worker, quiet)
    const { rows } = await admin.query(`
      select m.parent, count(*)::int as months,
             bool_and(c.relrowsecurity and c.relforcerowsecurity) as fenced
        from partition_months m join pg_class c on c.relname = m.name
       where m.month >= ${monthAgo(0)} group by 1 order by 1`)
    assert.deepEqual(
      rows.map(({ parent }) => parent),
      ['audit_log', 'webhook_attempts', 'webhook_deliveries', 'webhook_events'],
    )
    assert.ok(rows.every(({ months, fenced }) => months >= 3 && fenced))
    const listed = `select name from partition_months order by 1`
    const before = (await admin.query(listed)).rows
    await makePartitions(worker, quiet)
    assert.deepEqual((await admin.query(listed)).rows, before)
  })

  test('partitions that are missing are reported, and created with the rows that had no other place', async (t) => {
    const { admin, worker, count } = await open(t)
    const { rows } = await admin.query(`
      select name from partition_months where parent = 'audit_log' and month = ${monthAgo(0)}`)
    await admin.query(`drop table ${rows[0].name}`)
    await admin.query(`
      insert into audit_log (tenant_ref, actor, action, entity)
      values ('acme', 'system', 'act', 'late')`)
    assert.equal(await count('audit_log_default'), 1)
    const alerts: unknown[] = []
    await makePartitions(worker, { error: (alert: unknown) => alerts.push(alert) })
    assert.deepEqual(alerts, [{ misplaced: 1, left: 0 }])
    assert.equal(await count('audit_log_default'), 0)
    assert.equal(await count(`audit_log where entity = 'late'`), 1)
    await makePartitions(worker, { error: () => assert.fail('nothing is misplaced any more') })
  })

  test('enforce across months what unique keys cannot: numbers and deliveries', async (t) => {
    const { admin } = await open(t)
    await addEvents(admin, { tenant: 'acme', months: 4, many: 1 })
    await admin.query(`
      insert into webhook_events (tenant_ref, id, type, data) values ('acme', ${idAgo(0, "'x'")}, 'a', '{}')`)
    const number = (sequence: number) =>
      admin.query(`update webhook_events set sequence = ${sequence}, payload = '{}', data = null,
                          created_at = now() where payload is null`)
    await assert.rejects(number(400_001), { constraint: 'webhook_events_sequence' })
    await number(400_002)
    const twice = `insert into webhook_deliveries select * from webhook_deliveries limit 1`
    await assert.rejects(admin.query(twice), { code: '23505' })
    const orphan = `
      insert into webhook_deliveries (tenant_ref, subscription_id, event_id, event_type, endpoint_url)
      values ('acme', gen_random_uuid(), gen_random_uuid(), 'a', 'https://x.example/')`
    await assert.rejects(admin.query(orphan), { constraint: 'webhook_deliveries_event' })
  })
})

describe('old months', () => {
  test('are dropped whole, with their rows; months that are too young stay', async (t) => {
    const { admin, count, drop } = await open(t)
    for (const tenant of ['acme', 'globex']) {
      await addEvents(admin, { tenant, months: 6, many: 5 })
      await addEvents(admin, { tenant, months: 1, many: 3 })
      await addAudit(admin, tenant, 14, 4)
      await addAudit(admin, tenant, 6, 2)
    }
    assert.equal(await drop(null), 4)
    for (const table of WEBHOOK_TABLES) assert.equal(await count(table), 6, table)
    assert.equal(await count('audit_log'), 4)
    assert.equal(await drop(null), 0)
  })

  test('stay while one of their deliveries is pending, and are dropped when none is', async (t) => {
    const { admin, blobs, count, drop } = await open(t)
    await addEvents(admin, { tenant: 'acme', months: 6, many: 2 })
    await addEvents(admin, { tenant: 'globex', months: 6, many: 1, status: 'pending' })
    assert.equal(await drop(blobs), 0)
    assert.equal(await count('retention_archives'), 0, 'what may still change is not archived')
    for (const table of WEBHOOK_TABLES) assert.equal(await count(table), 3, table)
    await admin.query(`
      delete from webhook_queue;
      update webhook_deliveries set status = 'delivered', delivered_at = now(), next_retry_at = null;
      insert into webhook_attempts (tenant_ref, delivery_id, attempt, at)
      select tenant_ref, delivery_id, 2, now() from webhook_attempts`)
    assert.equal(await drop(blobs), 3)
    assert.equal((await readAll(admin, blobs)).length, 3 + 3 + 6)
    assert.equal(await count('webhook_events'), 0)
  })

  test('old months of the last weeks are protected by the database, whatever the settings say', async (t) => {
    const { admin, worker, count } = await open(t)
    await addAudit(admin, 'acme', 0, 1)
    const periods = { ...PERIODS, RETENTION_AUDIT_DAYS: 1, RETENTION_WEBHOOK_DAYS: 1 }
    await dropOldMonths({ database: worker, lives: LIVES, periods, archive: null, logger: quiet })
    const { rows } = await admin.query(
      `select fd_drop_month('audit_log', ${monthAgo(0)}) as dropped`,
    )
    assert.deepEqual(rows, [{ dropped: false }])
    assert.equal(await count('audit_log'), 1)
  })

  test('are archived first: each store by itself, every row, and no personal data', async (t) => {
    const { admin, blobs, count, drop } = await open(t)
    for (const tenant of ['acme', 'globex']) {
      await addEvents(admin, { tenant, months: 6, many: 7 })
      await addAudit(admin, tenant, 14, 3)
    }
    const { rows: expected } = await admin.query(`
      select 'audit_log' as table_name, tenant_ref, to_jsonb(t)::text as line from audit_log t
      union all select 'webhook_attempts', tenant_ref, to_jsonb(t)::text from webhook_attempts t
      union all select 'webhook_deliveries', tenant_ref, to_jsonb(t)::text from webhook_deliveries t
      union all select 'webhook_events', tenant_ref,
                       (to_jsonb(t) - 'payload' - 'data' - 'customer_ref')::text
                  from webhook_events t`)
    assert.equal(await drop(blobs), 4)
    assert.equal(await count('webhook_events'), 0)
    const archived = await readAll(admin, blobs)
    assert.deepEqual(archived.sort(), expected.map(lineOf).sort())
    assert.doesNotMatch(archived.join(), /ann/)
  })

  test('are not dropped when their archive fails, and a killed archive is continued', async (t) => {
    const { admin, blobs, count, drop } = await open(t)
    // More rows than one file of an archive has.
    await addAudit(admin, 'acme', 14, 12_000)
    await addAudit(admin, 'globex', 14, 10)
    let puts = 0
    const dying: BlobStore = {
      ...blobs,
      put: async (...args) => {
        if (++puts === 2) throw new Error('killed')
        return blobs.put(...args)
      },
    }
    await assert.rejects(drop(dying), /killed/)
    assert.equal(await count('audit_log'), 12_010)
    assert.equal(await count('retention_archives'), 1)
    const damaged: BlobStore = { ...blobs, get: async () => null }
    await assert.rejects(drop(damaged), /missing/)
    assert.equal(await drop(blobs), 1)
    assert.equal(await count('audit_log'), 0)
    const { rows } = await admin.query(`
      select tenant_ref, part, row_count from retention_archives order by 1, 2`)
    assert.deepEqual(
      rows.map(({ tenant_ref, part, row_count }) => `${tenant_ref} ${part} ${row_count}`),
      ['acme 1 5000', 'acme 2 5000', 'acme 3 2000', 'globex 1 10'],
    )
    assert.equal((await readAll(admin, blobs)).length, 12_010)
  })

  test('old months with more rows than their archive are not dropped', async (t) => {
    const { admin, blobs, count, drop } = await open(t)
    await addAudit(admin, 'acme', 14, 2)
    await admin.query(`
      insert into retention_archives (tenant_ref, table_name, month, part, row_count, file_sha256,
                                      rows_sha256, bytes, last_key)
      values ('acme', 'audit_log', ${monthAgo(14)}, 1, 1, repeat('a', 64), repeat('b', 64), 1,
              '["2100-01-01 00:00:00+00", "00000000-0000-4000-8000-000000000001"]')`)
    await assert.rejects(drop(blobs), /rows that its archive lacks/)
    assert.equal(await count('audit_log'), 2)
  })
})
