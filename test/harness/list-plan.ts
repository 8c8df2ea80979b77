import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type pg from 'pg'
import { Db } from '../../src/db/database.ts'
import { types } from '../../src/db/wire-types.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Page } from '../../src/kernel/page.ts'
import { openTestDatabase } from './database.ts'

/** Enough rows that a plan that reads all of them is seen by its pages. */
export const MANY = 20_000

/** PostgreSQL may choose another plan after five calls, and keeps that one. */
const CALLS = 7

/** The pages that each statement of the last call has read. */
interface Reading {
  rows: unknown[]
  pages: number[]
  plans: string[]
}

type Read<P> = (db: Db, filters: P, page: Page) => Promise<{ rows: unknown[] }>

/** Runs lists of the store `acme` on rows that `seed` inserts, and counts the pages they read. */
export async function openListPlans(t: TestContext, seed: (admin: pg.Client) => Promise<void>) {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('acme', 'Acme')`)
  // Without triggers: no list reads what they write, and they take minutes for so many rows.
  await admin.query('set session_replication_role = replica')
  await seed(admin)
  await admin.query('reset session_replication_role')
  await admin.query('vacuum analyze')
  const plans: string[] = []
  admin.on('notice', ({ message }) => {
    if (message?.includes('"Plan"')) plans.push(message.slice(message.indexOf('{')))
  })
  await admin.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_analyze = on;
    set auto_explain.log_buffers = on;
    set auto_explain.log_timing = off;
    set auto_explain.log_format = json;
    set client_min_messages = log`)
  const db = new Db('acme', systemClock, async (query) => {
    const { command, rows, rowCount } = await admin.query({ ...query, types })
    return { command, rows, rowCount: rowCount ?? 0 }
  })

  async function read<P>(list: Read<P>, filters: P, page: Page): Promise<Reading> {
    let rows: unknown[] = []
    for (let call = 0; call < CALLS; call++) {
      plans.length = 0
      rows = (await list(db, filters, page)).rows
    }
    const pages = plans.map((plan) => pagesOf(JSON.parse(plan)))
    return { rows, pages, plans: [...plans] }
  }

  return {
    admin,
    /** Reads as a login role does, under row level security. */
    as: (role: 'fd_app' | 'fd_operator') =>
      admin.query(`reset role; set role ${role}; set app.tenant = 'acme'`),
    /** Asserts how many rows a page has, and that each statement reads few pages. */
    async reads<P>(
      list: Read<P>,
      filters: P,
      { expected, page = { limit: 10, offset: 0 }, pagesMax = 250 }: Expectation,
    ) {
      const { rows, pages, plans: seen } = await read(list, filters, page)
      const what = `${JSON.stringify(filters)} ${JSON.stringify(page)}: ${pages} pages\n${seen.join('\n')}`
      assert.equal(rows.length, expected, what)
      assert.ok(pages.length > 0 && Math.max(...pages) <= pagesMax, what)
    },
  }
}

export interface Expectation {
  expected: number
  page?: Page
  /** A count of 10,001 rows reads one or two hundred pages of an index. */
  pagesMax?: number
}

interface Explained {
  Plan: { 'Shared Hit Blocks'?: number; 'Shared Read Blocks'?: number }
}

/** An estimate is a plan that is not run: it reads none. */
const pagesOf = ({ Plan: plan }: Explained) =>
  (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
