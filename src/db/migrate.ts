import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { Type } from 'typebox'
import { deriveKey } from '../kernel/tokens.ts'
import { ensureRoles } from './roles.ts'
import { type Runner, sql } from './sql.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)

/**
 * The key of the lock that lets one process migrate at a time. Any number, but it must never
 * change.
 */
const LOCK_KEY = 7_239_114_001

/** PostgreSQL 15 is the first whose `public` schema is closed to everyone by default. */
const VERSION_MIN = 150_000

export interface Migration {
  version: number
  name: string
  sql: string
  checksum: string
}

interface Applied {
  version: number
  name: string
  checksum: string
}

export async function readMigrations(folder: URL = FOLDER): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async (file, index) => {
      const sql = await readFile(new URL(file, folder), 'utf8')
      const version = Number(file.slice(0, 4))
      if (version !== index + 1)
        throw new Error(
          `migration ${file} breaks the numbering; the files must be numbered without gaps`,
        )
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { version, name: file.slice(5, -4), sql, checksum }
    }),
  )
}

/** Applies the pending migrations. Safe to call from many processes at once. */
export async function migrate(options: { url: string; secretKey: string; folder?: URL }) {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: `fairdock:${process.pid}:migrate`,
    connectionTimeoutMillis: 10_000,
  })
  // A lost connection also fails the current statement, whose error reports it.
  client.on('error', () => {})
  await client.connect()
  try {
    await refuseOldServer(client)
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    await ensureRoles(client, options.url, options.secretKey)
    await client.query('set role fd_owner')
    const applied = await applyPending(client, await readMigrations(options.folder))
    await recordKey(client, options.secretKey)
    return applied
  } finally {
    await client.end()
  }
}

async function applyPending(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  await client.query(`
    create table if not exists schema_migrations (
      version    integer     primary key,
      name       text        not null,
      checksum   text        not null,
      applied_at timestamptz not null default now()
    )`)
  await client.query('grant select on schema_migrations to fd_app, fd_worker, fd_operator')
  const pending = findPending(migrations, await listApplied(client))
  for (const migration of pending) await apply(client, migration, migration === pending.at(-1))
  return pending
}

/** Derives a value that tells one SECRET_KEY from another and does not reveal the key. */
const keyCheckOf = (secretKey: string) => deriveKey(secretKey, 'key check').toString('hex')

/** Records the SECRET_KEY of the first migration. Another key is never recorded later: the doctor reports it. */
async function recordKey(client: pg.Client, secretKey: string): Promise<void> {
  const text = 'insert into installation (key_check) values ($1) on conflict do nothing'
  await client.query(text, [keyCheckOf(secretKey)])
}

/** Whether the database was set up with this SECRET_KEY. Returns null where that is not recorded. */
export async function hasSameKey(client: pg.Client, secretKey: string): Promise<boolean | null> {
  const there = await client.query("select to_regclass('installation') is not null as there")
  if (!there.rows[0]?.there) return null
  const { rows } = await client.query('select key_check from installation')
  return rows[0] === undefined ? null : rows[0].key_check === keyCheckOf(secretKey)
}

/**
 * Applies one migration. Only the last one waits for the disk: the log is written in order, so all earlier ones are on
 * disk with it.
 */
async function apply(
  client: pg.Client,
  { version, name, sql, checksum }: Migration,
  isLast: boolean,
) {
  try {
    await client.query(isLast ? 'begin' : 'begin; set local synchronous_commit = off')
    await client.query(sql)
    await client.query(
      'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)',
      [version, name, checksum],
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(`migration ${version} (${name}) failed`, { cause: error })
  }
}

export async function listApplied(client: pg.Client): Promise<Applied[]> {
  const { rows } = await client.query<Applied>(
    'select version, name, checksum from schema_migrations order by version',
  )
  return rows
}

const AppliedRow = Type.Object({
  version: Type.Integer(),
  name: Type.String(),
  checksum: Type.String(),
})

/** Whether every migration of this program is applied: the check of a process that may not migrate. */
export async function isMigrated(db: Runner, migrations: Migration[]): Promise<boolean> {
  const applied = await db.many(
    AppliedRow,
    sql`select version, name, checksum from schema_migrations order by version`,
  )
  // A newer release may have migrated already. Migrations only add, so this release can go on
  // running.
  const known = applied.filter(({ version }) => version <= migrations.length)
  return findPending(migrations, known).length === 0
}

/**
 * Lists the migrations that are not applied. Refuses a database that was migrated by other files.
 */
export function findPending(migrations: Migration[], applied: Applied[]): Migration[] {
  for (const done of applied) {
    const known = migrations.find(({ version }) => version === done.version)
    if (known === undefined) {
      throw new Error(
        `the database is newer than this program: it has migration ${done.version}; run a newer release`,
      )
    }
    if (known.name !== done.name) {
      throw new Error(
        `the database is older than the first release: its migration ${done.version} is ${done.name}, here it is ` +
          `${known.name}; delete the data folder (DATA_DIR), or name an empty database, and start again`,
      )
    }
    if (known.checksum !== done.checksum) {
      throw new Error(
        `migration ${done.version} (${done.name}) was changed after it was applied; restore its file`,
      )
    }
  }
  return migrations.filter(({ version }) => !applied.some((done) => done.version === version))
}

async function refuseOldServer(client: pg.Client) {
  const { rows } = await client.query<{ number: number; text: string }>(
    `select current_setting('server_version_num')::int as number,
            current_setting('server_version') as text`,
  )
  if ((rows[0]?.number ?? 0) >= VERSION_MIN) return
  throw new Error(`PostgreSQL 15 or newer is required, this is ${rows[0]?.text}`)
}
