import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import type { Static, TSchema } from 'typebox'
import { type AllStores, Db } from '../../src/db/database.ts'
import { prepare, type Runner, type Sql } from '../../src/db/sql.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Page } from '../../src/kernel/page.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'

/** The store that the tests of lists fill: many rows, so that a walk over all of them is seen. */
export const BIG = 'big'
export const MANY = 20_000

type ReaderRole = 'fd_app' | 'fd_operator'

/** Far below the pages of many rows, and enough for a page of a list with everything joined to it. */
const PAGES_MAX = 400

/** How often PostgreSQL plans a prepared statement for its values before it considers another plan. */
const PLANNED_ANEW = 5

export type ReadPages = (
  what: string,
  read: (db: Db) => Promise<unknown>,
  atMost?: number,
) => Promise<void>

/**
 * Returns a function that runs a read of the big store and fails if one of its statements touches
 * many pages of the database. A page of a list is planned for its values; any other statement as for a
 * connection that has sent it before: from the sixth time on PostgreSQL may plan it once for all values.
 *
 * The count of a list with more than ten thousand rows is exempt: it reads ten thousand, whatever
 * the store has.
 */
export async function openPagesRead(
  database: TestDatabase,
  role: ReaderRole = 'fd_app',
): Promise<ReadPages> {
  const admin = await database.openAdmin()
  const logins = database.open(role)
  const runner = role === 'fd_app' ? logins.tenant(BIG) : logins.directory
  return async (what, read, atMost = PAGES_MAX) => {
    await read(
      new CheckingDb(runner, async (query, isPlannedAnew) => {
        const { pages, isFull, plan } = await explain(admin, { role, isPlannedAnew }, query)
        assert.ok(isFull || pages <= atMost, `${what}: ${pages} pages\n${plan}`)
      }),
    )
  }
}

/** A list of a store, or one that an operator reads over all stores. */
type ReadList<F, D extends Db | AllStores> = (
  db: D,
  filters: F,
  page: Page,
) => Promise<{ rows: unknown[] }>

interface Expectation {
  /** How many rows the page has. */
  expected: number
  page?: Page
  pagesMax?: number
}

/** Opens a database with the rows of `seed` in the big store, and functions that read its lists. */
export async function openListPlans(t: TestContext, seed: (admin: pg.Client) => Promise<void>) {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ($1, 'Big')`, [BIG])
  // Without triggers: no list reads what they write, and they take minutes for so many rows.
  await admin.query('set session_replication_role = replica')
  await seed(admin)
  await admin.query('reset session_replication_role')
  await admin.query('vacuum analyze')
  const readers = {
    fd_app: await openPagesRead(database),
    fd_operator: await openPagesRead(database, 'fd_operator'),
  }
  let role: ReaderRole = 'fd_app'
  return {
    admin,
    /** Reads as another login role from here on. */
    as(other: ReaderRole) {
      role = other
    },
    /** Asserts how many rows a page has, and that each statement reads few pages. */
    async reads<F, D extends Db | AllStores>(
      list: ReadList<F, D>,
      filters: F,
      { expected, page = FIRST, pagesMax }: Expectation,
    ) {
      const what = `${JSON.stringify(filters)} ${JSON.stringify(page)}`
      const read = async (db: Db) => {
        assert.equal((await list(db as unknown as D, filters, page)).rows.length, expected, what)
      }
      await readers[role](what, read, pagesMax)
    },
  }
}

export type ListPlans = Awaited<ReturnType<typeof openListPlans>>

const FIRST = { limit: 10, offset: 0 }

type Check = (query: pg.QueryConfig, isPlannedAnew: boolean) => Promise<void>

class CheckingDb extends Db {
  readonly #runner: Runner
  readonly #check: Check
  readonly #isPlannedAnew: boolean
  constructor(runner: Runner, check: Check, isPlannedAnew = false) {
    const store = { tenant: BIG, clock: systemClock, source: runner }
    super(store, () => assert.fail('every statement goes through many()'))
    this.#runner = runner
    this.#check = check
    this.#isPlannedAnew = isPlannedAnew
  }

  /** Returns a database that plans each statement for its values, as a list asks for it. */
  after(): CheckingDb {
    return new CheckingDb(this.#runner, this.#check, true)
  }

  override async many<S extends TSchema>(shape: S, query: Sql): Promise<Static<S>[]> {
    const prepared = prepare(query)
    if (!prepared.text.startsWith('explain')) await this.#check(prepared, this.#isPlannedAnew)
    return this.#runner.many(shape, query)
  }
}

interface Plan {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Plans?: Plan[]
}

interface Reader {
  role: ReaderRole
  isPlannedAnew: boolean
}

async function explain(
  admin: pg.Client,
  { role, isPlannedAnew }: Reader,
  { text, values = [] }: pg.QueryConfig,
) {
  const literals = values.map((value) => literalOf(prepareValue(value)))
  await admin.query(`begin; set local role ${role}`)
  try {
    await admin.query(`select set_config('app.tenant', $1, true)`, [BIG])
    if (isPlannedAnew) await admin.query(`set local plan_cache_mode = force_custom_plan`)
    await admin.query(`prepare listed as ${text}`)
    const call = literals.length === 0 ? 'listed' : `listed (${literals.join(', ')})`
    for (let sent = 0; sent < PLANNED_ANEW; sent++) await admin.query(`execute ${call}`)
    const { rows } = await admin.query(
      `explain (analyze, buffers, timing off, format json) execute ${call}`,
    )
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'] as [{ Plan: Plan }]
    return {
      pages: pagesOf(plan),
      isFull:
        text.startsWith('select count(*)') && (plan.Plans?.[0]?.['Actual Rows'] ?? 0) > 10_000,
      plan: outlineOf(plan),
    }
  } finally {
    await admin.query('rollback')
    await admin.query('deallocate all')
  }
}

const pagesOf = (plan: Plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

/** A plan in lines that a person can read. */
const outlineOf = (plan: Plan, indent = ''): string =>
  [
    `${indent}${plan['Node Type']} ${plan['Index Name'] ?? plan['Relation Name'] ?? ''}: ` +
      `${plan['Actual Rows']} rows, ${plan['Actual Loops']} times, ${pagesOf(plan)} pages`,
    ...(plan.Plans ?? []).map((each) => outlineOf(each, `${indent}  `)),
  ].join('\n')

function literalOf(value: string | Buffer | null): string {
  if (value === null) return 'null'
  return Buffer.isBuffer(value) ? `'\\x${value.toString('hex')}'` : pg.escapeLiteral(value)
}
