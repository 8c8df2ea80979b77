import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { Type } from 'typebox'
import type { Database } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { CachedResponse } from '../../src/platform/cached-response.ts'
import { createLiveCache, type LiveCache, notifyChanged } from '../../src/platform/live-cache.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { until } from './eventually.ts'
import { SLOW_CLOCK } from './slow-clock.ts'

const Shown = Type.Object({ value: Type.Integer() })

export interface Process {
  database: Database
  cache: LiveCache
  /** The public read of one store, as this process answers it. */
  read(tenant?: string): Promise<number>
  loads(): number
  /** Writes, notifies the other processes, drops its own entry, and only then returns. */
  write(value: number, tenant?: string): Promise<void>
}

interface ProcessOptions {
  listenUrl?: string
  clock?: Clock
  /** A database that tests share, one after the other. By default the test has one of its own. */
  on?: TestDatabase
}

/** A database with a table of the values that the stores show. */
export async function openShown(t: TestContext): Promise<TestDatabase> {
  const database = await openTestDatabase(t)
  await superuser(database, [
    'create table shown (tenant_ref text primary key, value integer not null)',
    'grant select, update on shown to fd_app',
  ])
  return database
}

async function openProcesses(t: TestContext, count: number, options: ProcessOptions = {}) {
  const caches: LiveCache[] = []
  // Before `openTestDatabase`, so that the caches stop before the database is dropped at the end.
  t.after(() => Promise.all(caches.map((cache) => cache.stop())))
  const database = options.on ?? (await openShown(t))
  // Again for each test, whatever the one before has written.
  await superuser(database, [
    `insert into shown values ('acme', 0), ('globex', 0)
         on conflict (tenant_ref) do update set value = excluded.value`,
  ])
  const open = () => {
    const opened = openProcess(database, options)
    caches.push(opened.cache)
    return opened
  }
  const processes = Array.from({ length: count }, open)
  for (const { cache } of processes) await until('trusted', () => cache.trusted)
  return { database, processes }
}

function openProcess(test: TestDatabase, options: ProcessOptions): Process {
  const database = test.open('fd_app')
  const cache = createLiveCache({
    listenUrl: options.listenUrl ?? test.roleUrl('fd_app'),
    database,
    logger: pino({ level: 'silent' }),
    clock: options.clock ?? SLOW_CLOCK,
  })
  cache.start()
  let loads = 0
  const load = async (tenant: string): Promise<CachedResponse> => {
    loads += 1
    const db = database.tenant(tenant)
    const query = sql`select value from shown where tenant_ref = ${db.tenant}`
    return text(String((await db.one(Shown, query)).value))
  }
  return {
    database,
    cache,
    loads: () => loads,
    read: async (tenant = 'acme') =>
      Number((await cache.read(tenant, 'site', () => load(tenant))).body),
    async write(value, tenant = 'acme') {
      await database.tenant(tenant).transaction('write', async (tx) => {
        await tx.run(sql`update shown set value = ${value} where tenant_ref = ${tx.tenant}`)
        await notifyChanged(tx)
      })
      cache.drop(tenant)
    },
  }
}

export async function superuser(database: TestDatabase, statements: string[]) {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

export const text = (body: string, status = 200): CachedResponse => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from(body),
})

export async function openOne(t: TestContext, options: ProcessOptions = {}) {
  const { processes, database } = await openProcesses(t, 1, options)
  const [only] = processes
  assert.ok(only)
  return { ...only, test: database }
}

export async function openTwo(t: TestContext, options: ProcessOptions = {}) {
  const { processes } = await openProcesses(t, 2, options)
  const [here, there] = processes
  assert.ok(here && there)
  return { here, there }
}

/** Ends the listener of every cache on the database, as a restart of the server would. */
export const killListeners = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name like '%:live'`
