import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { planForBigStores } from '../../src/platform/store-plans.ts'
import { openTestDatabase } from '../harness/database.ts'

/** Tables whose kept plans suppose an average store. */
async function listOthers(admin: pg.Client): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(`
    select c.relname as name
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_ref'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and a.attoptions is null`)
  return rows.map(({ name }) => name)
}

/** How many of the store's products the plan for all stores expects. */
async function expected(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ 'QUERY PLAN': string }>(
    'explain (generic_plan) select from products where tenant_ref = $1',
  )
  return Number(/rows=(\d+)/.exec(rows[0]?.['QUERY PLAN'] ?? '')?.[1])
}

test('from 100 stores on, a plan for all stores supposes a big one, in every table and each new partition', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  const worker = database.open('fd_worker')
  const addStores = (from: number, to: number) =>
    admin.query(
      `insert into stores (tenant_ref, display_name)
       select 'store-' || n, 'Store' from generate_series($1::int, $2::int) n`,
      [from, to],
    )
  await addStores(1, 99)
  const all = await listOthers(admin)
  await planForBigStores(worker)
  assert.deepEqual(await listOthers(admin), all)

  await addStores(100, 1_000)
  await admin.query(`
    insert into products (tenant_ref, slug, name)
    select 'store-' || n, 'lamp', 'Lamp' from generate_series(1, 1000) n`)
  await admin.query('analyze products')
  assert.equal(await expected(admin), 1)
  await planForBigStores(worker)
  assert.deepEqual(await listOthers(admin), [])
  assert.equal(await expected(admin), 10)

  await admin.query(
    `set role fd_owner; select fd_make_month('audit_log', '2099-01-01'); reset role`,
  )
  assert.deepEqual(await listOthers(admin), ['audit_log_2099_01'])
  await planForBigStores(worker)
  assert.deepEqual(await listOthers(admin), [])
})
