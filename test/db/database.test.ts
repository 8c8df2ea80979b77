import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { sql } from '../../src/db/sql.ts'
import { openTestDatabase } from '../harness/database.ts'
import { until } from '../harness/eventually.ts'

const Tenant = Type.Object({ tenant: Type.String() })

describe('the database of a store', () => {
  test('sets the store for its statement alone', async (t) => {
    const db = (await openTestDatabase(t)).open('fd_app', 1)
    const seen = await db.tenant('acme').one(Tenant, sql`select fd_tenant() as tenant`)
    assert.deepEqual(seen, { tenant: 'acme' })
    await assert.rejects(db.directory.many(Tenant, sql`select fd_tenant() as tenant`), {
      code: 'FD001',
    })
  })

  test('lets an asynchronous commit skip the wait for the disk, and no other commit', async (t) => {
    const database = await openTestDatabase(t)
    const admin = await database.openAdmin()
    await admin.query(`alter role fd_app in database ${admin.database} set synchronous_commit = on`)
    const db = database.open('fd_app', 1).tenant('acme')
    const Shown = Type.Object({ tenant: Type.String(), waits: Type.String() })
    const show = sql`select fd_tenant() as tenant, current_setting('synchronous_commit') as waits`
    assert.deepEqual(await db.asyncCommit.one(Shown, show), { tenant: 'acme', waits: 'off' })
    assert.deepEqual(await db.one(Shown, show), { tenant: 'acme', waits: 'on' })
  })

  test('pipelines statements of many stores, each in a transaction of its own', async (t) => {
    const database = await openTestDatabase(t)
    const admin = await database.openAdmin()
    await admin.query(
      `insert into stores (tenant_ref, display_name) values ('acme', 'A'), ('cove', 'C')`,
    )
    const db = database.open('fd_worker', 1)
    const insertFeed = (tenant: string) =>
      sql`insert into webhook_feeds (tenant_ref) values (${tenant})`
    const results = await db.pipelineAsyncCommits((tenant) =>
      Promise.allSettled([
        tenant('acme').run(insertFeed('acme')),
        // There is no such store, and this one is not the caller's.
        tenant('bolt').run(insertFeed('bolt')),
        tenant('cove').run(insertFeed('acme')),
        tenant('cove').run(insertFeed('cove')),
      ]),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    )
    const { rows } = await admin.query('select tenant_ref from webhook_feeds order by tenant_ref')
    assert.deepEqual(rows, [{ tenant_ref: 'acme' }, { tenant_ref: 'cove' }])
    assert.equal(db.load.busy, 0)
    await assert.rejects(db.directory.many(Tenant, sql`select fd_tenant() as tenant`), {
      code: 'FD001',
    })
  })

  test('runs a statement after a lock on the rows that were committed during the wait', async (t) => {
    const database = await openTestDatabase(t)
    const admin = await database.openAdmin()
    const db = database.open('fd_worker', 1).tenant('acme')
    const Feeds = Type.Object({ total: Type.Integer() })
    await admin.query('begin')
    await admin.query('select pg_advisory_xact_lock(7)')
    const counting = db
      .after(sql`select pg_advisory_xact_lock(7)`)
      .one(Feeds, sql`select count(*) as total from webhook_feeds`)
    const Waiting = `select from pg_locks where locktype = 'advisory' and not granted
                        and database = (select oid from pg_database where datname = current_database())`
    await until('it waits', async () => (await admin.query(Waiting)).rowCount === 1)
    await admin.query(`insert into stores (tenant_ref, display_name) values ('acme', 'Acme')`)
    await admin.query(`insert into webhook_feeds (tenant_ref) values ('acme')`)
    await admin.query('commit')
    assert.deepEqual(await counting, { total: 1 })
  })
})
