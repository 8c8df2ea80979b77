import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import type { Db } from '../../src/db/database.ts'
import { type KeyColumn, type List, NEWEST_KEY, readList } from '../../src/db/list.ts'
import { sql } from '../../src/db/sql.ts'
import { ApiError } from '../../src/errors.ts'
import { openTestDatabase } from '../harness/database.ts'
import { share } from '../harness/scope.ts'

const Entry = Type.Object({ id: Type.String(), action: Type.String() })

type Place = Awaited<ReturnType<typeof openPlace>>

async function openPlace(t: TestContext) {
  const database = await openTestDatabase(t)
  return { admin: await database.openAdmin(), app: database.open('fd_app') }
}

const shared = share(openPlace)
let stores = 0

/** The next store, with `entries` entries, three of each time, and another store with some. */
async function openList(entries: number, { admin, app }: Place = shared.current) {
  const [one, two] = [`one-${++stores}`, `two-${stores}`]
  await admin.query(
    `insert into stores (tenant_ref, display_name) values ($1, 'One'), ($2, 'Two')`,
    [one, two],
  )
  await admin.query(
    `insert into audit_log (tenant_ref, actor, action, entity, created_at)
     select ref, 'system', case when n % 2 = 0 then 'even' else 'odd' end, 'store',
            timestamptz '2026-01-01' + (n / 3) * interval '1 microsecond'
       from (values ($1::text, $2::int), ($3, 10)) as store (ref, entries),
            generate_series(1, entries) as n`,
    [one, entries, two],
  )
  await admin.query('analyze audit_log')
  const db = app.tenant(one)
  const { rows } = await admin.query(
    'select id from audit_log where tenant_ref = $1 order by created_at desc, id desc',
    [one],
  )
  return { admin, db, list: listOf(db), newestFirst: rows.map(({ id }) => id as string) }
}

type EntryList = List<typeof Entry>

const listOf = (db: Db, changes: Partial<EntryList> = {}): EntryList => ({
  shape: Entry,
  table: sql`audit_log`,
  as: sql`a`,
  scope: sql`a.tenant_ref = ${db.tenant}`,
  filters: [],
  key: NEWEST_KEY,
  descending: true,
  columns: sql`a.id, a.action`,
  ...changes,
})

/** Reads all pages, each after the one before. */
async function followCursors(db: Db, list: EntryList, limit: number): Promise<string[]> {
  const ids: string[] = []
  let after: string | undefined
  do {
    const page = await readList(db, list, { limit, offset: 0, ...(after && { after }) })
    assert.ok(page.rows.length <= limit)
    ids.push(...page.rows.map(({ id }) => id))
    after = page.shown.next_after
  } while (after !== undefined)
  return ids
}

/** Reads all pages, as a reader does that trusts `total`. */
async function followOffsets(db: Db, list: EntryList, limit: number): Promise<string[]> {
  const ids: string[] = []
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const page = await readList(db, list, { limit, offset })
    ids.push(...page.rows.map(({ id }) => id))
    total = page.shown.total
  }
  return ids
}

describe('a list', () => {
  test('is read whole by its cursors and by its offsets, whatever the size of a page', async () => {
    const { db, list, newestFirst } = await openList(23)
    for (const limit of [1, 2, 5, 22, 23, 24]) {
      assert.deepEqual(await followCursors(db, list, limit), newestFirst, `cursors, ${limit}`)
      assert.deepEqual(await followOffsets(db, list, limit), newestFirst, `offsets, ${limit}`)
    }
    const oldest = listOf(db, { descending: false })
    assert.deepEqual(await followCursors(db, oldest, 4), newestFirst.toReversed())
  })

  test('has only the members of the contract when it fits on one page', async () => {
    const { db, list } = await openList(3)
    const { shown } = await readList(db, list, { limit: 3, offset: 0 })
    assert.deepEqual(shown, { total: 3, limit: 3, offset: 0 })
    const none = listOf(db, { filters: [sql`a.action = 'none'`] })
    assert.deepEqual(await readList(db, none, { limit: 5, offset: 0 }), {
      rows: [],
      shown: { total: 0, limit: 5, offset: 0 },
    })
    const past = await readList(db, list, { limit: 5, offset: 50 })
    assert.deepEqual(past, { rows: [], shown: { total: 3, limit: 5, offset: 50 } })
  })

  test('can be read whole from lists of its parts', async () => {
    const { db, newestFirst } = await openList(23)
    const parts = listOf(db, { parts: [sql`a.action = 'odd'`, sql`a.action = 'even'`] })
    for (const limit of [1, 5, 23]) {
      assert.deepEqual(await followCursors(db, parts, limit), newestFirst, `cursors, ${limit}`)
      assert.deepEqual(await followOffsets(db, parts, limit), newestFirst, `offsets, ${limit}`)
    }
    const { shown } = await readList(db, parts, { limit: 5, offset: 0 })
    assert.equal(shown.total, 23)
  })

  test('neither skips nor repeats a row when others are added between two pages', async () => {
    const { admin, db, list, newestFirst } = await openList(20)
    const first = await readList(db, list, { limit: 10, offset: 0 })
    await admin.query(
      `insert into audit_log (tenant_ref, actor, action, entity) values ($1, 'a', 'b', 'c')`,
      [db.tenant],
    )
    const { next_after: after } = first.shown
    assert.ok(after)
    const second = await readList(db, list, { limit: 10, offset: 0, after })
    const ids = [...first.rows, ...second.rows].map(({ id }) => id)
    assert.deepEqual(ids, newestFirst)
  })

  test('counts the rows of its filters, and of its own store alone', async () => {
    const { db } = await openList(9)
    const odd = listOf(db, { filters: [sql`a.action = 'odd'`] })
    const { rows, shown } = await readList(db, odd, { limit: 2, offset: 0 })
    assert.deepEqual([rows.length, shown.total], [2, 5])
  })

  test('is read and counted with a time limit of its own, shorter than that of the role', async () => {
    const { db } = await openList(9)
    const limited = listOf(db, { filters: [sql`current_setting('statement_timeout') = '4s'`] })
    const { rows, shown } = await readList(db, limited, { limit: 2, offset: 0 })
    assert.deepEqual([rows.length, shown.total], [2, 9])
    const { own } = await db.one(
      Type.Object({ own: Type.String() }),
      sql`select current_setting('statement_timeout') as own`,
    )
    assert.equal(own, '10s', 'and the connection has the limit of its role again')
  })

  test('is planned for each store, and not once for the many small stores', async () => {
    const { db } = await openList(9)
    const planned = sql`current_setting('plan_cache_mode') = 'force_custom_plan'`
    const { rows, shown } = await readList(db, listOf(db, { filters: [planned] }), {
      limit: 2,
      offset: 0,
    })
    assert.deepEqual([rows.length, shown.total], [2, 9])
  })

  test('orders by columns of every type', async () => {
    const { db } = await openList(7)
    const keys: KeyColumn[][] = [
      [
        { name: sql`action`, type: 'text' },
        { name: sql`id`, type: 'uuid' },
      ],
      [{ name: sql`number`, type: 'integer' }],
      [{ name: sql`hash`, type: 'bytes' }],
    ]
    const table = sql`(select *, row_number() over (order by id) as number,
                              sha256(convert_to(id::text, 'UTF8')) as hash
                         from audit_log where tenant_ref = ${db.tenant})`
    for (const key of keys) {
      const ids = await followCursors(db, listOf(db, { table, key }), 2)
      assert.equal(new Set(ids).size, 7)
    }
  })

  test('refuses a cursor that it has not made', async () => {
    const { db, list } = await openList(3)
    const cursors = [
      'x',
      '%',
      ...[null, 1, {}, [], [1, 2], ['1'], ['1', 'x'], ['x', crypto.randomUUID()]].map(encode),
      encode(['1', crypto.randomUUID(), '2']),
      encode(['99999999999999999999', crypto.randomUUID()]),
    ]
    for (const after of cursors) {
      const reading = readList(db, list, { limit: 5, offset: 0, after })
      await assert.rejects(
        reading,
        (error) => error instanceof ApiError && error.code === 'invalid_query',
        after,
      )
    }
  })
})

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a list of more than 10,000 rows', () => {
  test('says that its total is an estimate, and never names fewer rows than a reader gets', async (t) => {
    // Of its own, since it takes the statistics away.
    const place = await openPlace(t)
    const { db, admin, list, newestFirst } = await openList(10_050, place)
    // Wrong on purpose: the planner takes the table for small.
    await admin.query(`delete from pg_statistic where starelid = 'audit_log'::regclass`)
    const { shown } = await readList(db, list, { limit: 100, offset: 0 })
    assert.equal(shown.total_is_estimate, true)
    assert.ok(shown.total > 10_000, `${shown.total}`)
    assert.equal((await followOffsets(db, list, 1_000)).length, newestFirst.length)
    assert.equal((await followCursors(db, list, 1_000)).length, newestFirst.length)
  })

  test('ends with its last row, and has the exact total there', async () => {
    const { db, list } = await openList(10_050)
    const last = await readList(db, list, { limit: 100, offset: 10_000 })
    assert.deepEqual(last.shown, { total: 10_050, limit: 100, offset: 10_000 })
    const past = await readList(db, list, { limit: 100, offset: 12_000 })
    assert.ok(past.shown.total <= 12_000)
  })
})
