import pg from 'pg'
import type { AllStores, DueLists } from '../../src/db/database.ts'
import type { LoginRole } from '../../src/db/roles.ts'
import { Runner } from '../../src/db/sql.ts'
import { UNMOVED } from '../../src/db/store-clocks.ts'
import type { TestDatabase } from './database.ts'

type Storeless = DueLists | AllStores

/** A login that counts the statements it sends, and the pages that these read. */
export interface PageCounter<Read extends Storeless> {
  db: Read
  counted: { statements: number; pages: number }
}

/** Opens a `PageCounter`. Pages do not depend on how busy the machine is, as times do. */
export async function countPages<Read extends Storeless = DueLists>(
  scope: { after(end: () => Promise<void>): void },
  database: TestDatabase,
  role: LoginRole,
): Promise<PageCounter<Read>> {
  const client = new pg.Client({ connectionString: database.roleUrl(role) })
  await client.connect()
  // The database is dropped while this is open; its error then does not matter.
  client.on('error', () => {})
  scope.after(() => client.end())
  const counted = { statements: 0, pages: 0 }
  const runner = new Runner(async ({ text, values = [] }) => {
    const explained = await client.query(`explain (analyze, buffers, format json) ${text}`, [
      ...values,
    ])
    const { Plan: plan } = explained.rows[0]['QUERY PLAN'][0]
    counted.statements += 1
    counted.pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    const { command, rows, rowCount } = await client.query(text, [...values])
    return { command, rows, rowCount: rowCount ?? 0 }
  })
  return { db: Object.assign(runner, { clocks: UNMOVED }) as unknown as Read, counted }
}
