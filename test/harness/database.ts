import { createHash, randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Embedded, startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Database } from '../../src/db/database.ts'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { LOGIN_ROLES, type LoginRole, roleUrl } from '../../src/db/roles.ts'
import { Runner } from '../../src/db/sql.ts'
import { checkRow } from './check-row.ts'
import { openScope } from './scope.ts'

/** In tests every row that a query returns is checked against its shape. */
Runner.checkRow = checkRow

export const TEST_SECRET_KEY = 'the secret key of every test database'

const DATA_DIR = fileURLToPath(new URL('../../.data/test', import.meta.url))
const TEMPLATE_LOCK = 8_812_003_451

/** Settings for speed: a test database may lose its last second in a power cut. */
const FAST = {
  // With a database for every test autovacuum would work all the time.
  autovacuum_naptime: '1min',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '500',
  // Databases and connections are young here, so that planning would take a third of PostgreSQL's time.
  plan_cache_mode: 'force_generic_plan',
}

/** One server for all test processes: each joins the running one, and the last one stops it. */
export const startTestServer = (dataDir = DATA_DIR) =>
  startEmbedded({ dataDir, password: 'a password for tests only', settings: FAST })

/**
 * The server of the test run. A process outside of a run starts or joins one, and must leave it.
 */
async function joinTestServer(): Promise<Pick<Embedded, 'url' | 'stop'>> {
  const url = process.env.TEST_SERVER
  return url === undefined ? startTestServer() : { url, stop: async () => {} }
}

export interface TestDatabase {
  url: string
  /** A connection of the superuser, for direct checks and for faults. */
  openAdmin(): Promise<pg.Client>
  secretKey: string
  open(role: LoginRole, max?: number): Database
  roleUrl(role: LoginRole): string
}

/** A database of the test's own, cloned from a migrated template, or from another one. */
export async function openTestDatabase(t: TestContext, from?: string): Promise<TestDatabase> {
  const server = await joinTestServer()
  const name = `t_${randomBytes(8).toString('hex')}`
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  const opened: Database[] = []
  const admins: pg.Client[] = []
  // From here on, since a template may fail: an open connection would keep the process alive.
  t.after(async () => {
    await Promise.all([...opened.map((each) => each.close()), ...admins.map((each) => each.end())])
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.end()
    await server.stop()
  })
  const template = from ?? (await ensureTemplate(admin, server.url))
  // Copied as files: by the default way, through the log, creating and dropping take twice as long.
  await admin.query(`create database ${name} template ${template} strategy file_copy`)
  const url = withDatabase(server.url, name)
  const urlOf = (role: LoginRole) => roleUrl(url, role, TEST_SECRET_KEY)
  return {
    url,
    secretKey: TEST_SECRET_KEY,
    roleUrl: urlOf,
    openAdmin: async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      admins.push(client)
      return client
    },
    open: (role, max = 5) => {
      // On a busy machine the last of many requests waits long for a connection.
      const options = { url: urlOf(role), name: role, max, connectTimeoutMs: 60_000 }
      const database = new Database(options)
      opened.push(database)
      return database
    },
  }
}

const FILLED_LOCK = 8_812_003_452

/**
 * The name of a template that `fill` has filled, once in a run of tests. Only in a run, whose server
 * ends with it: a template that outlives a change of the code would be out of date.
 */
export async function ensureFilled(
  key: string,
  fill: (database: TestDatabase) => Promise<void>,
): Promise<string> {
  const name = `filled_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`
  const admin = new pg.Client({ connectionString: process.env.TEST_SERVER })
  await admin.connect()
  try {
    await admin.query('select pg_advisory_lock($1)', [FILLED_LOCK])
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name])
    if (rowCount === 1) return name
    const { scope, end } = openScope()
    try {
      const database = await openTestDatabase(scope)
      await fill(database)
      const made = new URL(database.url).pathname.slice(1)
      await admin.query(`create database ${name} template ${made} strategy file_copy`)
    } finally {
      await end()
    }
    return name
  } finally {
    await admin.end()
  }
}

/** An empty database, for tests of the migrations. */
export async function openEmptyDatabase(t: TestContext): Promise<string> {
  const server = await joinTestServer()
  const name = `t_${randomBytes(8).toString('hex')}`
  const admin = new pg.Client({ connectionString: server.url })
  await admin.connect()
  t.after(async () => {
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.end()
    await server.stop()
  })
  await admin.query(`create database ${name}`)
  return withDatabase(server.url, name)
}

let templateName: Promise<string> | undefined

/** The template is named for its migrations, so that changed files make a new one. */
async function ensureTemplate(admin: pg.Client, url: string): Promise<string> {
  templateName ??= readMigrations().then((migrations) => {
    const sums = migrations.map(({ checksum }) => checksum).join()
    return `template_${createHash('sha256').update(sums).digest('hex').slice(0, 16)}`
  })
  const name = await templateName
  const exists = async () =>
    (await admin.query('select from pg_database where datname = $1', [name])).rowCount === 1
  if (await exists()) return name
  await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK])
  try {
    if (await exists()) return name
    // Created under another name and renamed, so that a killed test leaves no incomplete template.
    const aside = `making_${randomBytes(8).toString('hex')}`
    await admin.query(`create database ${aside}`)
    await migrate({ url: withDatabase(url, aside), secretKey: TEST_SECRET_KEY })
    await easeLogins(admin, url)
    await admin.query(`alter database ${aside} rename to ${name}`)
    await dropOthers(admin, name)
    return name
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [TEMPLATE_LOCK])
  }
}

/**
 * Stores the passwords in a form that is quick to check, and accepts them as plain text: a handshake is
 * eight jobs of other threads in Node. A run logs in thousands of times, and these passwords protect
 * nothing.
 */
async function easeLogins(admin: pg.Client, url: string): Promise<void> {
  await admin.query('set scram_iterations = 1')
  const urls = [url, ...LOGIN_ROLES.map((role) => roleUrl(url, role, TEST_SECRET_KEY))]
  for (const { username, password } of urls.map((each) => new URL(each))) {
    const [role, secret] = [username, password].map(decodeURIComponent)
    await admin.query(
      `alter role ${pg.escapeIdentifier(role ?? '')} password ${pg.escapeLiteral(secret ?? '')}`,
    )
  }
  const { rows } = await admin.query<{ hba_file: string }>('show hba_file')
  const path = pg.escapeLiteral(rows[0]?.hba_file ?? '')
  await admin.query(`copy (values ('host all all 127.0.0.1/32 password')) to ${path}`)
  await admin.query('select pg_reload_conf()')
}

/** Drops templates of older migrations. One that is being copied at this moment stays. */
async function dropOthers(admin: pg.Client, name: string): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    `select datname from pg_database where datname like 'template\\_%' and datname <> $1`,
    [name],
  )
  for (const { datname } of rows) await admin.query(`drop database ${datname}`).catch(() => {})
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
