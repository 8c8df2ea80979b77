import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import type { Database } from '../../src/db/database.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

export interface Platform {
  database: TestDatabase
  app: Database
  worker: Database
  /** A connection of the superuser, who sees all stores: to prepare and to check. */
  query: <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>
  /** New stores, so that tests on one database do not see each other. */
  addStores(count: number): Promise<string[]>
}

/** A test, or a whole file by its `after` hook. */
interface Scope {
  after(end: () => Promise<void>): void
}

/** A database seen by the roles of the processes. */
export async function openPlatform(scope: Scope, connections = 10): Promise<Platform> {
  // Only the hook is used, so that the hook of a whole file works as well.
  const database = await openTestDatabase(scope as TestContext)
  const admin = new pg.Pool({ connectionString: database.url, max: 1 })
  // The database is dropped while it is open; its error then does not matter.
  admin.on('error', () => {})
  scope.after(() => admin.end())
  const query: Platform['query'] = async (text, values = []) =>
    (await admin.query(text, [...values])).rows
  return {
    database,
    app: database.open('fd_app', connections),
    worker: database.open('fd_worker', connections),
    query,
    async addStores(count) {
      const refs = Array.from({ length: count }, () => `s-${randomBytes(6).toString('hex')}`)
      const rows = 'select ref, ref from unnest($1::text[]) as ref'
      await query(`insert into stores (tenant_ref, display_name) ${rows}`, [refs])
      return refs
    },
  }
}
