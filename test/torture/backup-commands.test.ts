import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { Type } from 'typebox'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { roleUrl } from '../../src/db/roles.ts'
import { sql } from '../../src/db/sql.ts'
import * as catalog from '../../src/modules/catalog/service.ts'
import { SYSTEM } from '../../src/platform/audit.ts'
import { findPostgres, startPostgres } from '../harness/installed-postgres.ts'
import { listTables, openSuperuser } from '../harness/superuser.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SECRET_KEY = 'the secret key of the backup that is restored'
const programs = await findPostgres()
const skip = programs === null ? 'there is no whole PostgreSQL, and none may be installed' : false

const run = promisify(execFile)

/** The commands of the page whose block has the program. Copies of files are not about the database. */
async function commandsOf(program: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/operating/running.md'), 'utf8')
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block ?? '')
  const found = blocks.filter((block) => block.includes(`${program} `))
  assert.equal(found.length, 1, `the page has one block with ${program}`)
  const lines = (found[0] ?? '').split('\n').filter((line) => !line.startsWith('cp '))
  return lines.join('\n')
}

/** A new server whose database `fairdock` belongs to a user who is no superuser. */
async function openServer(t: TestContext, bin: string) {
  const url = await startPostgres(t, bin)
  const admin = await openSuperuser(t, { url })
  await admin.query('create role shop_admin login createrole createdb')
  await admin.query('create database fairdock owner shop_admin')
  const { rows } = await admin.query(`select rolsuper, rolbypassrls from pg_roles
                                       where rolname = 'shop_admin'`)
  assert.deepEqual(rows, [{ rolsuper: false, rolbypassrls: false }])
  const at = (user: string, database: string) =>
    url.replace('//postgres@', `//${user}@`).replace(/[^/]+$/, database)
  return {
    DATABASE_URL: at('shop_admin', 'fairdock'),
    ADMIN_URL: at('shop_admin', 'postgres'),
    superuserUrl: at('postgres', 'fairdock'),
  }
}

type Server = Awaited<ReturnType<typeof openServer>>

/** Runs commands as they stand on the page, in a folder of their own; npm is that of the project. */
function shell(folder: string, bin: string, server: Server, commands: string) {
  const npm = `npm() { command npm --prefix '${ROOT}' "$@"; }`
  const env = {
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOME: folder,
    DATA_DIR: join(folder, 'data'),
    SECRET_KEY,
    DATABASE_URL: server.DATABASE_URL,
    ADMIN_URL: server.ADMIN_URL,
  }
  return run('sh', ['-ec', `${npm}\n${commands}`], { cwd: folder, env })
}

/** How many rows each table has, without row level security. */
async function countRows(server: Server): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: server.superuserUrl })
  await client.connect()
  try {
    const counts: Record<string, number> = {}
    for (const table of await listTables(client)) {
      const { rows } = await client.query(`select count(*)::int as n from "${table}"`)
      counts[table] = rows[0].n
    }
    return counts
  } finally {
    await client.end()
  }
}

/** The products of each store. */
const PRODUCTS = { acme: ['anvil', 'rocket'], globex: ['lamp', 'shade'] }

/** Works with the database as a process of the API does. */
async function asApi<T>(server: Server, work: (database: Database) => Promise<T>): Promise<T> {
  const url = roleUrl(server.DATABASE_URL, 'fd_app', SECRET_KEY)
  const database = new Database({ url, name: 'app', max: 2 })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

const fill = (server: Server) =>
  asApi(server, async (database) => {
    for (const [tenant, slugs] of Object.entries(PRODUCTS)) {
      const db = database.tenant(tenant)
      await db.run(sql`
        insert into stores (tenant_ref, display_name) values (${tenant}, ${tenant})`)
      for (const slug of slugs) await catalog.create(db, SYSTEM, { slug, name: slug })
    }
  })

/** The products that a store sees. */
const slugsOf = (server: Server, tenant: string) =>
  asApi(server, async (database) => {
    const Slug = Type.Object({ slug: Type.String() })
    const query = sql`select slug from products order by slug`
    return (await database.tenant(tenant).many(Slug, query)).map(({ slug }) => slug)
  })

test('the documented commands back up and restore a database of a user who is no superuser', {
  skip,
}, async (t) => {
  const bin = programs ?? ''
  const folder = await mkdtemp(join(tmpdir(), `backup-${randomBytes(4).toString('hex')}-`))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const source = await openServer(t, bin)
  await migrate({ url: source.DATABASE_URL, secretKey: SECRET_KEY })
  await fill(source)
  const before = await countRows(source)
  const { stores, products, audit_log } = before
  assert.deepEqual({ stores, products, audit_log }, { stores: 2, products: 4, audit_log: 4 })

  await shell(folder, bin, source, await commandsOf('pg_dump'))
  const target = await openServer(t, bin)
  await shell(folder, bin, target, await commandsOf('pg_restore'))

  assert.deepEqual(await countRows(target), before)
  for (const [tenant, slugs] of Object.entries(PRODUCTS)) {
    assert.deepEqual(await slugsOf(target, tenant), slugs)
  }
})
