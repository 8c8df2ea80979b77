import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { Type } from 'typebox'
import { Database, type Tx } from '../../src/db/database.ts'
import { GLOBAL_TABLES } from '../../src/db/global-tables.ts'
import { Sql, sql } from '../../src/db/sql.ts'
import { DAY_MS } from '../../src/kernel/time.ts'
import { ABOUT_AN_ORDER } from '../contract/paths.ts'
import { plantCanary } from '../contract/plant-canary.ts'
import { type Answer, openTestApp } from '../harness/app.ts'
import { openTestDatabase } from '../harness/database.ts'
import { essence } from '../harness/refusals.ts'
import { share } from '../harness/scope.ts'
import { listTables, openSuperuser } from '../harness/superuser.ts'
import { TENANT_ROWS } from './tenant-rows.ts'

const Owned = Type.Object({ tenant_ref: Type.String() })
const raw = (text: string) => new Sql([text], [])

/** For tests of connections. The only rows are those that one of them writes. */
const place = share((scope) => openTestDatabase(scope))

const tenantTables = async (superuser: pg.Client) =>
  (await listTables(superuser)).filter((name) => !(name in GLOBAL_TABLES))

/** Two stores with rows in every table; a table without rows fails the test. */
async function openTwoStores(t: TestContext) {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const callers = { acme: await app.merchant('acme'), globex: await app.merchant('globex') }
  for (const [tenant, caller] of Object.entries(callers)) {
    await plantCanary(caller, `canary-of-${tenant}`)
    for (const insert of Object.values(TENANT_ROWS)) await superuser.query(insert, [tenant])
  }
  const tables = await tenantTables(superuser)
  for (const table of tables) {
    const { rows } = await superuser.query(`select distinct tenant_ref from ${table} order by 1`)
    const seen = rows.map(({ tenant_ref }) => tenant_ref)
    assert.deepEqual(
      seen,
      ['acme', 'globex'],
      `${table} needs a row in the resources.ts of its module`,
    )
  }
  return { app, superuser, callers, tables }
}

/** All columns except those that PostgreSQL computes. */
async function writableColumns(superuser: pg.Client, table: string): Promise<string[]> {
  const { rows } = await superuser.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  return rows.map(({ name }) => name)
}

const isRefused = ({ code }: { code?: string }) => code === '42501' || code === 'FD002'

describe('with row level security alone', () => {
  /** The tests only read, and try in vain to write. */
  const stores = share(openTwoStores)

  test('a query without a filter by store sees the rows of its store only, in every table', async () => {
    const { app, tables } = stores.current
    const db = app.database.open('fd_app')
    assert.ok(tables.length >= 8)
    for (const table of tables) {
      for (const tenant of ['acme', 'globex']) {
        const rows = await db.tenant(tenant).many(Owned, raw(`select * from ${table}`))
        assert.ok(rows.length > 0, table)
        assert.ok(
          rows.every(({ tenant_ref }) => tenant_ref === tenant),
          table,
        )
        const named = raw(`select * from ${table} where tenant_ref <> '${tenant}' or true`)
        assert.equal((await db.tenant(tenant).many(Owned, named)).length, rows.length, table)
      }
      assert.deepEqual(await db.tenant('nobodys').many(Owned, raw(`select * from ${table}`)), [])
    }
  })

  test('the worker sees one store in a transaction of that store, and many stores only without one', async () => {
    const { app, superuser, tables } = stores.current
    const db = app.database.open('fd_worker')
    const readable = await superuser.query<{ name: string; due: boolean }>(
      `select c.relname as name,
              exists (select from pg_policy where polrelid = c.oid and polname = 'due') as due
         from pg_class c
        where c.oid = any($1::regclass[]) and has_column_privilege('fd_worker', c.oid, 'tenant_ref', 'select')`,
      [tables],
    )
    assert.ok(readable.rows.filter(({ due }) => due).length >= 19)
    for (const { name, due } of readable.rows) {
      const query = raw(`select tenant_ref from ${name}`)
      for (const tenant of ['acme', 'globex']) {
        const seen = (await db.tenant(tenant).many(Owned, query)).map((row) => row.tenant_ref)
        assert.deepEqual([...new Set(seen)], [tenant], name)
      }
      if (!due) await assert.rejects(db.directory.many(Owned, query), { code: 'FD001' }, name)
      else assert.ok((await db.directory.many(Owned, query)).length >= 2, name)
    }
  })

  test('no statement writes into another store, or moves a row there', async () => {
    const { app, superuser, tables } = stores.current
    const stateOf = async (table: string) =>
      (
        await superuser.query(
          `select x::text from ${table} x where tenant_ref = 'globex' order by 1`,
        )
      ).rows
    for (const role of ['fd_app', 'fd_worker'] as const) {
      const acme = app.database.open(role).tenant('acme')
      for (const table of tables) {
        const before = await stateOf(table)
        const columns = await writableColumns(superuser, table)
        const copy = `select ${columns.map((name) => `r.${name}`).join()} from ${table} x,
                      jsonb_populate_record(null::${table},
                        to_jsonb(x) || '{"tenant_ref": "globex"}') r limit 1`
        const insert = raw(`insert into ${table} (${columns.join()}) ${copy}`)
        await assert.rejects(acme.run(insert), isRefused, table)
        await assert.rejects(
          acme.run(raw(`update ${table} set tenant_ref = 'globex'`)),
          isRefused,
          table,
        )
        for (const act of [
          `update ${table} set tenant_ref = 'acme' where tenant_ref = 'globex'`,
          `delete from ${table} where tenant_ref = 'globex'`,
        ]) {
          const touched = await acme.run(raw(act)).catch((error) => {
            if (!isRefused(error)) throw error
            return 0
          })
          assert.equal(touched, 0, `${role}: ${act}`)
        }
        assert.deepEqual(await stateOf(table), before, table)
      }
    }
  })

  test('a statement without a store is an error in every table, never an empty result', async () => {
    const { app, tables } = stores.current
    const db = app.database.open('fd_app')
    for (const table of tables) {
      const query = raw(`select * from ${table}`)
      await assert.rejects(db.directory.many(Owned, query), { code: 'FD001' }, table)
      await assert.rejects(db.tenant('').many(Owned, query), { code: 'FD001' }, table)
    }
  })
})

test("the application's own filters isolate stores even with row level security off", async (t) => {
  const { app, superuser, callers, tables } = await openTwoStores(t)
  const { acme, globex } = callers
  const urls = app.app.routeTable
    .filter(
      ({ method, plane, url }) => method === 'GET' && plane === 'merchant' && !url.includes(':'),
    )
    .map(({ url }) => url)
    .filter((url) => !ABOUT_AN_ORDER.includes(url))
  urls.push('/v1/my/audit?limit=100&action=store.created')
  const operatorUrls = app.app.routeTable
    .filter(
      ({ method, plane, url }) =>
        method === 'GET' && plane === 'operator' && url.includes(':tenant'),
    )
    .map(({ url }) => url.replace(':tenant', 'globex').replace(':key', 'gift_cards'))
    // What names a row by its id is asked for by its own tests.
    .filter((url) => !url.includes(':'))
  const readAll = async () => [
    ...(await Promise.all(urls.map((url) => globex.get(url)))),
    ...(await Promise.all(operatorUrls.map((url) => app.operator.get(url)))),
  ]
  // Reports are of today, so both reads must be of one day.
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs < 60_000) await sleep(leftMs + 100)
  const fenced = await readAll()
  for (const table of tables) {
    await superuser.query(
      `alter table ${table} disable row level security, no force row level security`,
    )
  }
  const db = app.database.open('fd_app').tenant('globex')
  const open = await db.many(Owned, sql`select tenant_ref from stores`)
  assert.equal(open.length, 2, 'the fence is down')

  const bare = await readAll()
  // The test clock and the compliance of a store answer the time.
  const timeless = (answer: Answer) => ({
    ...essence(answer),
    text: answer.text.replace(/"(now|checked_at)":"[^"]+"/, ''),
  })
  assert.deepEqual(bare.map(timeless), fenced.map(timeless))
  assert.ok(bare.every(({ status, text }) => status === 200 && !text.includes('canary-of-acme')))

  const ids = async (url: string, list: string) =>
    (await acme.get(url)).body[list].map(({ id }: { id: string }) => id)
  const credentials = await ids('/v1/my/credentials', 'credentials')
  const requests = await ids('/v1/merchant/entitlements/requests', 'requests')
  const before = (await acme.get('/v1/my/store')).body
  for (const id of credentials) {
    assert.equal((await globex.post(`/v1/my/credentials/${id}/revoke`)).status, 404)
  }
  for (const id of requests) {
    const url = `/v1/merchant/entitlements/requests/${id}/withdraw`
    assert.equal((await globex.post(url)).status, 404)
  }
  await globex.patch('/v1/my/store', { display_name: 'Changed', currency: 'EUR' })
  await globex.post('/v1/merchant/entitlements/disable', { feature_key: 'gift_cards' })
  await app.operator.put('/v1/entitlements/tenants/globex/features/affiliates', { state: 'deny' })
  await app.operator.put('/v1/entitlements/tenants/globex/tier', { tier: 'scale' })
  await app.operator.put('/v1/stores/globex/status', { status: 'suspended' })
  assert.deepEqual((await acme.get('/v1/my/store')).body, before)
})

const FAILING = sql`select 1 / 0`
const TENANT = sql`select fd_tenant() as tenant`
const Tenant = Type.Object({ tenant: Type.String() })

describe('the store of a connection', () => {
  test('ends with the statement or transaction that set it, however that ended', async () => {
    const database = place.current.open('fd_app', 1)
    const acme = database.tenant('acme')
    const uses: Record<string, () => Promise<unknown>> = {
      'a statement': () => acme.one(Tenant, TENANT),
      'a failed statement': () => acme.run(FAILING),
      'a statement that does not parse': () => acme.run(raw('this is no SQL')),
      'a transaction': () => acme.transaction('fine', (tx) => tx.one(Tenant, TENANT)),
      'a failed transaction': () => acme.transaction('failing', (tx) => tx.run(FAILING)),
      'work that throws': () =>
        acme.transaction('throwing', async (tx) => {
          await tx.one(Tenant, TENANT)
          throw new Error('thrown')
        }),
      'a failure that was caught': () =>
        acme.transaction('caught', async (tx) => void (await tx.run(FAILING).catch(() => 0))),
      'many at once': () =>
        Promise.allSettled([acme.run(FAILING), acme.one(Tenant, TENANT), acme.run(FAILING)]),
      'a statement cut off': () => acme.run(sql`select pg_terminate_backend(pg_backend_pid())`),
    }
    for (const [what, use] of Object.entries(uses)) {
      await use().catch(() => {})
      await assert.rejects(database.directory.many(Tenant, TENANT), { code: 'FD001' }, what)
      assert.deepEqual(await database.tenant('globex').one(Tenant, TENANT), { tenant: 'globex' })
      assert.deepEqual(database.load, { busy: 0, waiting: 0 }, what)
    }
  })

  test('is separate for each of many users of few connections', async () => {
    const database = place.current.open('fd_app', 2)
    const refs = Array.from({ length: 60 }, (_, i) => `store-${i}`)
    const seen = await Promise.all(
      refs.map((ref, i) =>
        i % 2
          ? database.tenant(ref).one(Tenant, TENANT)
          : database.tenant(ref).transaction('read', (tx) => tx.one(Tenant, TENANT)),
      ),
    )
    assert.deepEqual(
      seen.map(({ tenant }) => tenant),
      refs,
    )
  })

  test('is treated as data, whatever it contains', async () => {
    const database = place.current.open('fd_app', 1)
    for (const ref of ["x'; set role fd_owner; --", 'a"b', '💚', '$1', ' ']) {
      assert.deepEqual(await database.tenant(ref).one(Tenant, TENANT), { tenant: ref })
    }
  })
})

describe('a transaction', () => {
  const insert = (tx: Tx) =>
    tx.run(sql`insert into stores (tenant_ref, display_name) values (${tx.tenant}, 'Acme')`)
  const listStores = (db: Database) =>
    db.tenant('acme').many(Owned, sql`select tenant_ref from stores`)

  test('is over when its work is done: using it later is an error', async () => {
    const database = place.current.open('fd_app', 1)
    let kept: Tx | undefined
    await database.tenant('acme').transaction('fine', async (tx) => {
      kept = tx
    })
    await assert.rejects(async () => kept?.run(sql`select 1`), /the transaction 'fine' is over/)
    const thrown = database.tenant('acme').transaction('thrown', async (tx) => {
      kept = tx
      throw new Error('no')
    })
    await assert.rejects(thrown, /^Error: no$/)
    await assert.rejects(async () => kept?.run(sql`select 1`), /the transaction 'thrown' is over/)
  })

  test('a transaction that fails in any way writes nothing, and throws', async () => {
    const database = place.current.open('fd_app', 1)
    const acme = database.tenant('acme')
    const caught = acme.transaction('caught', async (tx) => {
      await insert(tx)
      await tx.run(FAILING).catch(() => 0)
      return 'as if it had worked'
    })
    await assert.rejects(caught, /the transaction 'caught' was rolled back/)
    const ways: ((tx: Tx) => Promise<unknown>)[] = [
      (tx) => tx.run(FAILING),
      async () => {
        throw new Error('no')
      },
      (tx) => Promise.all([tx.run(FAILING), insert(tx)]),
      (tx) => tx.run(sql`select pg_terminate_backend(pg_backend_pid())`),
    ]
    for (const fail of ways) {
      const failed = acme.transaction('failing', async (tx) => {
        await insert(tx)
        await fail(tx)
      })
      await assert.rejects(failed)
      assert.deepEqual(await listStores(database), [])
    }
    await acme.transaction('fine', insert)
    assert.equal((await listStores(database)).length, 1)
  })

  test('a transaction within a transaction fails in time when the pool has no connection left, and frees its own', async (t) => {
    const { roleUrl } = place.current
    const options = { url: roleUrl('fd_app'), name: 'small', max: 2, connectTimeoutMs: 1_500 }
    const database = new Database(options)
    t.after(() => database.close())
    const acme = database.tenant('acme')
    const nested = Array.from({ length: 20 }, () =>
      acme.transaction('outer', () => acme.transaction('inner', (tx) => tx.one(Tenant, TENANT))),
    )
    const outcomes = await Promise.allSettled(nested)
    assert.ok(outcomes.some(({ status }) => status === 'rejected'))
    assert.deepEqual(database.load, { busy: 0, waiting: 0 })
    assert.deepEqual(await acme.one(Tenant, TENANT), { tenant: 'acme' })
  })
})

test('a row that does not match the shape of its query fails in a test', async () => {
  const acme = place.current.open('fd_app', 1).tenant(`store-${randomUUID()}`)
  await assert.rejects(acme.many(Type.Object({ tenant: Type.Integer() }), TENANT))
  await assert.rejects(acme.many(Type.Object({ other: Type.String() }), TENANT))
  await assert.rejects(acme.one(Tenant, sql`select 'x' as tenant where false`), /got none/)
  const two = sql`select 'x' as tenant union all select 'y'`
  await assert.rejects(acme.maybe(Tenant, two), /at most one row, got 2/)
})
