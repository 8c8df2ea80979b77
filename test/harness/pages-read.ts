import assert from 'node:assert/strict'
import pg from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import type { Static, TSchema } from 'typebox'
import { Db } from '../../src/db/database.ts'
import { prepare, type Sql } from '../../src/db/sql.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { TestDatabase } from './database.ts'

/** The store that the tests of lists fill: many rows, so that a walk over all of them is seen. */
export const BIG = 'big'
export const MANY = 20_000

/** Far below the pages of many rows, and enough for a page of a list with everything joined to it. */
const PAGES_MAX = 400

/** So often PostgreSQL plans a kept statement for its values before it considers another plan. */
const PLANNED_ANEW = 5

export type ReadPages = (
  what: string,
  read: (db: Db) => Promise<unknown>,
  atMost?: number,
) => Promise<void>

/**
 * Answers a function that runs a read of the big store and fails if one of its statements touches
 * many pages of the database. Each is planned as for a connection that has sent it before: from
 * the sixth time on PostgreSQL may plan it once for all values.
 *
 * The count of a list with more than ten thousand rows is exempt: it reads ten thousand, whatever
 * the store has.
 */
export async function openPagesRead(database: TestDatabase): Promise<ReadPages> {
  const admin = await database.openAdmin()
  const store = database.open('fd_app').tenant(BIG)
  return async (what, read, atMost = PAGES_MAX) => {
    await read(
      new CheckingDb(store, async (query) => {
        const { pages, isFull, plan } = await explain(admin, query)
        assert.ok(isFull || pages <= atMost, `${what}: ${pages} pages\n${plan}`)
      }),
    )
  }
}

class CheckingDb extends Db {
  readonly #store: Db
  readonly #check: (query: pg.QueryConfig) => Promise<void>
  constructor(store: Db, check: (query: pg.QueryConfig) => Promise<void>) {
    super(store.tenant, systemClock, () => assert.fail('every statement goes through many()'))
    this.#store = store
    this.#check = check
  }

  override async many<S extends TSchema>(shape: S, query: Sql): Promise<Static<S>[]> {
    const prepared = prepare(query)
    if (!prepared.text.startsWith('explain')) await this.#check(prepared)
    return this.#store.many(shape, query)
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

async function explain(admin: pg.Client, { text, values = [] }: pg.QueryConfig) {
  const literals = values.map((value) => literalOf(prepareValue(value)))
  await admin.query('begin; set local role fd_app')
  try {
    await admin.query(`select set_config('app.tenant', $1, true)`, [BIG])
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
