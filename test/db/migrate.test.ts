import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type pg from 'pg'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { openEmptyDatabase, TEST_SECRET_KEY as secretKey } from '../harness/database.ts'
import { emptyFolder, query, start } from '../harness/embedded.ts'
import { listTables, openSuperuser } from '../harness/superuser.ts'

/** How many migrations a program has whose files a test changes. All of them take two seconds. */
const FEW = 2

const MIGRATIONS = new URL('../../migrations/', import.meta.url)

/** The first migrations, in a folder that a test may change. */
async function copyMigrations(t: TestContext) {
  const path = await mkdtemp(join(tmpdir(), 'migrations-'))
  t.after(() => rm(path, { recursive: true }))
  for (const file of (await readdir(MIGRATIONS)).sort().slice(0, FEW)) {
    await cp(new URL(file, MIGRATIONS), join(path, file))
  }
  const folder = pathToFileURL(`${path}/`)
  const fileOf = (version: number, name: string) =>
    new URL(`${String(version).padStart(4, '0')}_${name}.sql`, folder)
  return { folder, next: FEW + 1, fileOf }
}

async function countApplied(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select count(*)::int as applied from schema_migrations')
  return rows[0].applied
}

describe('migrating', () => {
  test('is done once when two processes start at the same time, and a repetition does nothing', async (t) => {
    const url = await openEmptyDatabase(t)
    const total = (await readMigrations()).length
    const [first, second] = await Promise.all([
      migrate({ url, secretKey }),
      migrate({ url, secretKey }),
    ])
    assert.deepEqual(
      [first.length, second.length].sort((a, b) => a - b),
      [0, total],
    )
    const client = await openSuperuser(t, { url })
    const before = await listTables(client)
    assert.deepEqual(await migrate({ url, secretKey }), [])
    assert.deepEqual(await listTables(client), before)
    assert.equal(await countApplied(client), total)
  })

  test('can begin in several databases of a new server at once, though they share the roles', async (t) => {
    const { url } = await start(t, await emptyFolder(t))
    const names = ['one', 'two', 'three']
    for (const name of names) await query(url, `create database ${name}`)
    const total = (await readMigrations()).length
    const done = await Promise.all(
      names.map((name) => migrate({ url: new URL(`/${name}`, url).href, secretKey })),
    )
    assert.deepEqual(
      done.map((each) => each.length),
      names.map(() => total),
    )
  })

  test('refuses a migration that was changed after it was applied', async (t) => {
    const url = await openEmptyDatabase(t)
    const { folder, fileOf } = await copyMigrations(t)
    await migrate({ url, secretKey, folder })
    await writeFile(fileOf(2, 'store'), 'create table other (id integer);')
    await assert.rejects(migrate({ url, secretKey, folder }), /migration 2 \(store\) was changed/)
    const client = await openSuperuser(t, { url })
    assert.ok(!(await listTables(client)).includes('other'))
  })

  test('refuses a database that is older than the first release, and says to delete the data folder', async (t) => {
    const url = await openEmptyDatabase(t)
    const { folder } = await copyMigrations(t)
    await migrate({ url, secretKey, folder })
    const client = await openSuperuser(t, { url })
    await client.query(`
      update schema_migrations set name = 'tenancy', checksum = 'x' where version = 1;
      insert into schema_migrations (version, name, checksum) values (132, 'kept_corrections', 'x')`)
    await assert.rejects(migrate({ url, secretKey, folder }), {
      message:
        'the database is older than the first release: its migration 1 is tenancy, here it is ground; ' +
        'delete the data folder (DATA_DIR), or name an empty database, and start again',
    })
  })

  test('refuses a database that is newer than the program', async (t) => {
    const url = await openEmptyDatabase(t)
    const { folder, next, fileOf } = await copyMigrations(t)
    await writeFile(fileOf(next, 'future'), 'create table future (id integer);')
    await migrate({ url, secretKey, folder })
    await rm(fileOf(next, 'future'))
    const older = migrate({ url, secretKey, folder })
    await assert.rejects(older, new RegExp(`it has migration ${next}`))
  })

  test('rolls back a migration that fails, and names it', async (t) => {
    const url = await openEmptyDatabase(t)
    const { folder, next, fileOf } = await copyMigrations(t)
    await writeFile(fileOf(next, 'fine'), 'create table fine (id integer);')
    const broken = 'create table half (id integer); insert into half values (1); select 1 / 0;'
    await writeFile(fileOf(next + 1, 'broken'), broken)
    await writeFile(fileOf(next + 2, 'after'), 'create table after_it (id integer);')
    await assert.rejects(migrate({ url, secretKey, folder }), {
      message: `migration ${next + 1} (broken) failed`,
    })
    const client = await openSuperuser(t, { url })
    const tables = await listTables(client)
    assert.ok(tables.includes('fine'), 'what went before it stands')
    assert.ok(!tables.includes('half') && !tables.includes('after_it'))
    assert.equal(await countApplied(client), next)
    await writeFile(fileOf(next + 1, 'broken'), 'create table half (id integer);')
    const applied = await migrate({ url, secretKey, folder })
    assert.deepEqual(
      applied.map(({ name }) => name),
      ['broken', 'after'],
    )
  })

  test('refuses a gap in the numbers, and a number used twice', async (t) => {
    const url = await openEmptyDatabase(t)
    const { folder, next, fileOf } = await copyMigrations(t)
    await writeFile(fileOf(next + 1, 'too_far'), 'select 1;')
    await assert.rejects(migrate({ url, secretKey, folder }), /too_far.sql breaks the numbering/)
    await rm(fileOf(next + 1, 'too_far'))
    await writeFile(fileOf(next - 1, 'twin'), 'select 1;')
    await assert.rejects(migrate({ url, secretKey, folder }), /breaks the numbering/)
    const client = await openSuperuser(t, { url })
    assert.deepEqual(await listTables(client), [])
  })

  test('can be continued by another process after one has died during it', async (t) => {
    const url = await openEmptyDatabase(t)
    const { folder, next, fileOf } = await copyMigrations(t)
    await writeFile(
      fileOf(next, 'suicide'),
      'create table half (id integer); select pg_terminate_backend(pg_backend_pid());',
    )
    await assert.rejects(migrate({ url, secretKey, folder }))
    await rm(fileOf(next, 'suicide'))
    assert.deepEqual(await migrate({ url, secretKey, folder }), [])
    const client = await openSuperuser(t, { url })
    assert.ok(!(await listTables(client)).includes('half'))
  })
})
