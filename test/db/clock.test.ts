import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { Database, type Db } from '../../src/db/database.ts'
import { type Sql, sql } from '../../src/db/sql.ts'
import { UNMOVED } from '../../src/db/store-clocks.ts'
import { DAY_MS } from '../../src/kernel/time.ts'
import { openTestDatabase } from '../harness/database.ts'
import { share } from '../harness/scope.ts'

/** How much time a busy machine may lose between two readings. */
const ABOUT_MS = 30_000

const Times = Type.Object({
  business: Type.Number(),
  moment: Type.Number(),
  machine: Type.Number(),
})
const SELECT_TIMES = sql`
  select extract(epoch from fd_now())::float8 * 1000 as business,
         extract(epoch from fd_clock())::float8 * 1000 as moment,
         extract(epoch from now())::float8 * 1000 as machine`

const place = share((scope) => openTestDatabase(scope))

/** One connection, so that each store follows another on it. */
function open(t: TestContext, offsets: Record<string, number>) {
  const database = new Database({
    url: place.current.roleUrl('fd_app'),
    name: 'clock',
    max: 1,
    clocks: { ...UNMOVED, offsetMs: (tenant) => offsets[tenant] ?? 0 },
  })
  t.after(() => database.close())
  return database
}

/** The difference between a store's time and machine time, in SQL and in TypeScript. */
async function measure(db: Db) {
  const { business, moment, machine } = await db.one(Times, SELECT_TIMES)
  // The sum makes a zero of −0: `Math.round` of a small negative number.
  const near = (ms: number) => Math.round(ms / ABOUT_MS) * ABOUT_MS + 0
  return {
    sql: business - machine,
    moment: near(moment - machine),
    typescript: near(db.clock.now() - Date.now()),
  }
}

const all = (ms: number) => ({ sql: ms, moment: ms, typescript: ms })

describe('the business time of a store', () => {
  test('has the same offset in SQL and in TypeScript, in every way a statement can be sent', async (t) => {
    const database = open(t, { ahead: 30 * DAY_MS, behind: -7 * DAY_MS })
    for (const [tenant, ms] of [
      ['ahead', 30 * DAY_MS],
      ['behind', -7 * DAY_MS],
      ['neither', 0],
    ] as const) {
      const db = database.tenant(tenant)
      assert.deepEqual(await measure(db), all(ms), 'a single statement')
      assert.deepEqual(await measure(db.asyncCommit), all(ms), 'one that goes lightly')
      assert.deepEqual(await measure(db.after(sql`select 1`)), all(ms), 'one behind another')
      assert.deepEqual(await db.transaction('look', measure), all(ms), 'a transaction')
    }
  })

  test('has no offset for the next store on the connection, nor on a connection without a store', async (t) => {
    const database = open(t, { ahead: 30 * DAY_MS })
    const ahead = database.tenant('ahead')
    const ways: (() => Promise<unknown>)[] = [
      () => ahead.run(sql`select 1`),
      () => ahead.asyncCommit.run(sql`select 1`),
      () => ahead.transaction('commit', (tx) => tx.run(sql`select 1`)),
      () => ahead.transaction('roll back', (tx) => tx.run(sql`select 1 / 0`)).catch(() => {}),
      () => ahead.run(sql`select 1 / 0`).catch(() => {}),
    ]
    for (const way of ways) {
      await way()
      assert.deepEqual(await measure(database.tenant('neither')), all(0))
      const { business, machine } = await database.directory.one(Times, SELECT_TIMES)
      assert.equal(business, machine)
    }
  })

  test('stays the same for a database object in use while the offset changes', async (t) => {
    const offsets = { acme: 0 }
    const database = open(t, offsets)
    const before = database.tenant('acme')
    offsets.acme = DAY_MS
    assert.deepEqual(await measure(before), all(0))
    assert.deepEqual(await measure(database.tenant('acme')), all(DAY_MS))
  })

  test('costs no setting and no statement for a store without an offset', async (t) => {
    const database = open(t, { ahead: 1 })
    const Parsed = Type.Object({ statement: Type.String() })
    const listEntering = (db: Db) =>
      db.many(
        Parsed,
        sql`select statement from pg_prepared_statements
             where statement like '%set_config(%' and statement not like '%pg_prepared%'`,
      )
    const neither = database.tenant('neither')
    await neither.transaction('look', (tx) => tx.run(sql`select 1`))
    assert.deepEqual(await listEntering(neither), [
      { statement: `select set_config('app.tenant', $1, true)` },
    ])
    const Setting = Type.Object({ offset: Type.Union([Type.String(), Type.Null()]) })
    const OFFSET = sql`select current_setting('app.clock_offset', true) as "offset"`
    assert.deepEqual(await neither.one(Setting, OFFSET), { offset: null })
    assert.deepEqual(await database.tenant('ahead').one(Setting, OFFSET), {
      offset: '1 milliseconds',
    })
  })
})

/** Columns whose default is machine time: by table, each with its reason in 0001_ground.sql. */
const MACHINE_TIMES = [
  // Queues of the worker, not of a store: also `segment_positions`.
  'analytics_generations.due_at',
  'audit_log.created_at',
  'credentials.created_at',
  'domains.created_at',
  'domains.next_check_at',
  'domains.updated_at',
  // Of the installation, not of a store.
  'global_mail_suppressions.created_at',
  'idempotency_keys.created_at',
  'ledger_seals.sealed_at',
  'mails.created_at',
  'mails.next_attempt_at',
  'outbox.created_at',
  'outbox.next_attempt_at',
  'owner_sessions.created_at',
  'owners.created_at',
  'privacy_exports.due_at',
  'retention_archives.created_at',
  'schema_migrations.applied_at',
  'segment_positions.due_at',
  'storefront_tokens.created_at',
  'test_clocks.created_at',
]

/** Functions of the database that go by machine time, and why. */
const MACHINE_FUNCTIONS: Readonly<Record<string, string>> = {
  fd_clock: 'adds the offset',
  fd_drop_month: 'months are of the installation',
  fd_find_credential: 'access, before a store is known',
  fd_find_hostname: 'hosts, before a store is known',
  fd_make_partition: 'months are of the installation',
  fd_misplaced_rows: 'months are of the installation',
  fd_now: 'adds the offset',
  fd_refuse_young: 'guards rows of the installation against early deletion',
  fd_uuid: 'ids are no promise',
}

describe('the schema', () => {
  test('has no function or trigger of machine time without a listed reason', async () => {
    const admin = await place.current.openAdmin()
    const { rows } = await admin.query<{ name: string }>(`
      select proname as name
        from pg_proc
       where pronamespace = 'public'::regnamespace and proname like 'fd\\_%'
         and regexp_replace(prosrc, '--[^\\n]*', '', 'g')
             ~* '(^|[^_])now\\(\\)|(clock|statement|transaction)_timestamp|current_(timestamp|date|time)|uuidv7'
       order by 1`)
    assert.deepEqual(
      rows.map(({ name }) => name),
      Object.keys(MACHINE_FUNCTIONS),
    )
  })

  test('gives a row business time by default, except where machine time has a listed reason', async () => {
    const admin = await place.current.openAdmin()
    const { rows } = await admin.query<{ name: string }>(`
      select table_name || '.' || column_name as name
        from information_schema.columns
       where table_schema = 'public'
         and not (select relispartition from pg_class where oid = table_name::regclass)
         and column_default ~* '(^|[^_])now\\(\\)|(clock|statement|transaction)_timestamp|current_'
       order by 1`)
    assert.deepEqual(
      rows.map(({ name }) => name),
      MACHINE_TIMES,
    )
  })

  test('finds rows that are due by business time through the index', async (t) => {
    const database = open(t, { ahead: DAY_MS })
    const admin = await place.current.openAdmin()
    await admin.query(`
      insert into stores (tenant_ref, display_name) values ('ahead', 'Ahead');
      insert into gift_cards (tenant_ref, code_hmac, code_last4, initial_balance_cents,
                              balance_cents, currency, expires_at)
      select 'ahead', sha256(n::text::bytea), '0000', 100, 100, 'USD',
             now() + make_interval(hours => n)
        from generate_series(1, 5000) n;
      analyze gift_cards`)
    const Plan = Type.Object({ 'QUERY PLAN': Type.String() })
    const due = sql`
      from gift_cards
     where tenant_ref = 'ahead' and expires_at <= fd_now() and disabled_at is null
       and expires_at is not null and (expired_at is null or balance_cents > held_cents)`
    const explain = (query: Sql) =>
      database.tenant('ahead').many(Plan, sql`explain (costs off) ${query}`)
    const lines = (await explain(sql`select id ${due}`)).map((row) => row['QUERY PLAN'])
    assert.match(lines.join('\n'), /Index Scan using gift_cards_due.*Index Cond: \(expires_at <=/s)
    assert.doesNotMatch(lines.join('\n'), /fd_now/, 'the function is inlined')
    const Count = Type.Object({ count: Type.Integer() })
    const found = await database.tenant('ahead').one(Count, sql`select count(*)::int ${due}`)
    assert.deepEqual(found, { count: 24 }, 'a day ahead, the cards of one day are due')
  })
})
