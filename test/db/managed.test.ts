import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { Type } from 'typebox'
import { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { RolesMissingError, roleUrl } from '../../src/db/roles.ts'
import { sql } from '../../src/db/sql.ts'
import { emptyFolder, start } from '../harness/embedded.ts'

const SECRET_KEY = 'the secret key of a managed database'
const LOGIN = 'a password for the managed user'

const Name = Type.Object({ display_name: Type.String() })

/**
 * A server of this test, because roles belong to all databases of a server. Its one database is
 * owned by a user who is not a superuser, as hosted PostgreSQL has it.
 */
async function openManaged(t: TestContext, powers: string) {
  const server = await start(t, await emptyFolder(t))
  const admin = (text: string, database = 'fairdock') => query(at(server.url, { database }), text)
  await admin(`create role "Shop Admin" login ${powers} password '${LOGIN}'`)
  await admin('create database shop owner "Shop Admin"')
  const url = at(server.url, { database: 'shop', username: 'Shop Admin', password: LOGIN })
  return { url, admin: (text: string) => admin(text, 'shop') }
}

function at(
  url: string,
  parts: { database: string; username?: string; password?: string },
): string {
  const changed = new URL(url)
  changed.pathname = `/${parts.database}`
  if (parts.username !== undefined) changed.username = parts.username
  if (parts.password !== undefined) changed.password = parts.password
  return changed.href
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `fairdock:${process.pid}:test`,
  })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** A store's rows are written and read by the store, and not visible to another. */
async function roundTrip(url: string): Promise<void> {
  const db = new Database({ url: roleUrl(url, 'fd_app', SECRET_KEY), name: 'app', max: 2 })
  try {
    await db.tenant('acme').run(sql`
      insert into stores (tenant_ref, display_name) values (${'acme'}, ${'Acme'})`)
    const all = sql`select display_name from stores`
    assert.deepEqual(await db.tenant('acme').many(Name, all), [{ display_name: 'Acme' }])
    assert.deepEqual(await db.tenant('globex').many(Name, all), [])
    await assert.rejects(db.directory.many(Name, all), { code: 'FD001' })
  } finally {
    await db.close()
  }
}

describe('a managed PostgreSQL, whose user is no superuser', () => {
  test('is migrated by a user who may create roles, and keeps stores apart', async (t) => {
    const { url, admin } = await openManaged(t, 'createrole createdb')
    const applied = await migrate({ url, secretKey: SECRET_KEY })
    assert.ok(applied.length > 0)
    assert.deepEqual(await migrate({ url, secretKey: SECRET_KEY }), [])
    await roundTrip(url)
    const owners = await admin(
      "select distinct tableowner as name from pg_tables where schemaname = 'public'",
    )
    assert.deepEqual(owners, [{ name: 'fd_owner' }])
  })

  test('accepts a new secret key from the user who created the roles', async (t) => {
    const { url } = await openManaged(t, 'createrole')
    await migrate({ url, secretKey: 'the key before this one' })
    await migrate({ url, secretKey: SECRET_KEY })
    await roundTrip(url)
  })

  test('lists the statements that an administrator must run for a user without that right', async (t) => {
    const { url, admin } = await openManaged(t, 'nocreaterole')
    const refusal = await migrate({ url, secretKey: SECRET_KEY }).catch((error) => error)
    assert.ok(refusal instanceof RolesMissingError)
    assert.doesNotMatch(refusal.sql, /superuser|bypassrls/)
    await admin(refusal.sql)
    await migrate({ url, secretKey: SECRET_KEY })
    await roundTrip(url)
  })

  test('lets a user act as the owner role that the user created by hand', async (t) => {
    const { url } = await openManaged(t, 'createrole')
    // Since PostgreSQL 16 the creator of a role may grant it, but not act as it.
    await query(url, 'create role fd_owner; create role fd_gate; create role fd_search')
    await migrate({ url, secretKey: SECRET_KEY })
    await roundTrip(url)
  })

  test('is left unchanged when only some of the roles can be created', async (t) => {
    const { url, admin } = await openManaged(t, 'createrole')
    // The grants on the schema are refused after the roles were created.
    await admin('alter schema public owner to current_user')
    const refusal = await migrate({ url, secretKey: SECRET_KEY }).catch((error) => error)
    assert.ok(refusal instanceof RolesMissingError)
    assert.deepEqual(await admin("select from pg_roles where rolname like 'fd\\_%'"), [])
    await admin(refusal.sql)
    await migrate({ url, secretKey: SECRET_KEY })
    await roundTrip(url)
  })
})
