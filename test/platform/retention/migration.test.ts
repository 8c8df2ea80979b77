import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { migrate } from '../../../src/db/migrate.ts'
import { openEmptyDatabase, TEST_SECRET_KEY as secretKey } from '../../harness/database.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const TABLES = ['webhook_events', 'webhook_deliveries', 'webhook_attempts', 'audit_log']

/** The migrations before the one that divides tables. */
async function copyEarlier(t: TestContext): Promise<URL> {
  const path = await mkdtemp(join(tmpdir(), 'migrations-'))
  t.after(() => rm(path, { recursive: true }))
  await cp(new URL('../../../migrations/', import.meta.url), path, { recursive: true })
  const names = await readdir(path)
  const later = names.filter((name) => Number(name.slice(0, 4)) >= 55)
  await Promise.all(later.map((name) => rm(join(path, name))))
  return pathToFileURL(`${path}/`)
}

/** A column that a later migration adds. */
const ADDED = 'replayed_at'

test('dividing tables into months keeps every row, and puts each into its month', async (t) => {
  const url = await openEmptyDatabase(t)
  await migrate({ url, secretKey, folder: await copyEarlier(t) })
  const admin = await openSuperuser(t, { url })
  await admin.query(`
    insert into stores (tenant_ref, display_name) values ('acme', 'Acme'), ('globex', 'Globex');
    insert into webhook_events (tenant_ref, id, type, payload, created_at, sequence)
    select s, gen_random_uuid(), 'a', '{}', now(), n
      from unnest('{acme,globex}'::text[]) s, generate_series(1, 200) n;
    insert into webhook_events (tenant_ref, type, data) values ('acme', 'a', '{}');
    insert into webhook_deliveries (tenant_ref, subscription_id, event_id, event_type, endpoint_url)
    select tenant_ref, gen_random_uuid(), id, 'a', 'https://x.example/' from webhook_events;
    insert into webhook_attempts (tenant_ref, delivery_id, attempt, at)
    select tenant_ref, id, 1, now() from webhook_deliveries;
    insert into audit_log (tenant_ref, actor, action, entity, created_at)
    select 'acme', 'system', 'act', 'x', now() - make_interval(months => n)
      from generate_series(0, 3) n`)
  const rowsOf = async (table: string) =>
    (await admin.query(`select (to_jsonb(t) - '${ADDED}')::text as row from ${table} t order by 1`))
      .rows
  const before = await Promise.all(TABLES.map(rowsOf))
  await migrate({ url, secretKey })
  assert.deepEqual(await Promise.all(TABLES.map(rowsOf)), before)
  const { rows } = await admin.query(`
    select (select count(*) from audit_log_default)::int as misplaced,
           (select count(distinct tableoid) from audit_log)::int as months`)
  assert.deepEqual(rows, [{ misplaced: 0, months: 4 }])
  assert.deepEqual((await admin.query('select fd_misplaced_rows()::int as rows')).rows, [
    { rows: 0 },
  ])
})
