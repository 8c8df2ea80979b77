import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { awaitAll, SkippedError } from '../../src/db/await-all.ts'
import type { Db } from '../../src/db/database.ts'
import { Sql, sql } from '../../src/db/sql.ts'
import { openTestDatabase } from '../harness/database.ts'

const Value = Type.Object({ value: Type.Integer() })
const FAILING = sql`select 1 / 0 as value`

/** A text that no connection has parsed yet. */
let texts = 0
const fresh = (value: number) => new Sql([`select ${value} as value -- ${texts++}`], [])

const read = (db: Db, query: Sql) => db.one(Value, query)

test('the release of pg is pinned, since batches rely on undocumented behaviour', async () => {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  assert.match(JSON.parse(text).dependencies.pg, /^\d+\.\d+\.\d+$/)
})

describe('statements that are sent together', () => {
  test('are each answered with their own rows, also when they are already parsed', async (t) => {
    const acme = (await openTestDatabase(t)).open('fd_app', 1).tenant('acme')
    const queries = [fresh(1), fresh(2), sql`select count(*)::int as value from stores`]
    for (let n = 0; n < 3; n++) {
      const seen = await acme.transaction('read', (tx) =>
        Promise.all([...queries, fresh(3)].map((query) => read(tx, query))),
      )
      assert.deepEqual(
        seen.map(({ value }) => value),
        [1, 2, 0, 3],
      )
    }
  })

  test('are skipped after one that fails, and can be run by the same connection later', async (t) => {
    const acme = (await openTestDatabase(t)).open('fd_app', 1).tenant('acme')
    const behind = fresh(7)
    const failed = await acme
      .transaction('fail', async (tx) => {
        const sent = [read(tx, fresh(1)), read(tx, FAILING), read(tx, behind)]
        const settled = await Promise.allSettled(sent)
        assert.deepEqual(
          settled.map(({ status }) => status),
          ['fulfilled', 'rejected', 'rejected'],
        )
        const [, , skipped] = settled as PromiseRejectedResult[]
        assert.ok(skipped?.reason instanceof SkippedError)
        return awaitAll(sent.toReversed())
      })
      .catch((error: unknown) => error)
    assert.equal((failed as { code?: string }).code, '22012', 'the failure is told, not its echo')
    assert.deepEqual(await read(acme, behind), { value: 7 })
    assert.deepEqual(await read(acme, behind), { value: 7 })
  })

  test('fail alone when a row cannot be read or a value cannot be serialised', async (t) => {
    const database = (await openTestDatabase(t)).open('fd_app', 1)
    const acme = database.tenant('acme')
    const outcome = await acme.transaction('odd', (tx) =>
      Promise.allSettled([
        read(tx, fresh(1)),
        read(tx, sql`select 9007199254740993::bigint as value`),
        read(tx, sql`select (${{ amount: 1n }}::jsonb ->> 'amount')::int as value`),
        read(tx, fresh(4)),
      ]),
    )
    assert.deepEqual(
      outcome.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(await read(acme, fresh(5)), { value: 5 })
    assert.deepEqual(database.load, { busy: 0, waiting: 0 })
  })

  test('fail when their transaction has ended, also if it ends in the turn in which they are sent', async (t) => {
    const database = (await openTestDatabase(t)).open('fd_app', 1)
    const insert = sql`
      insert into limit_counters (bucket, window_start, hits) values ('late', now(), 1)`
    const giveUp = database.directory.transaction('give up', async (tx) => {
      tx.run(insert).catch(() => {})
      throw new Error('given up')
    })
    await assert.rejects(giveUp, { message: 'given up' })
    const late = sql`select count(*)::int as value from limit_counters where bucket = 'late'`
    assert.deepEqual(await database.directory.one(Value, late), { value: 0 })
    assert.deepEqual(database.load, { busy: 0, waiting: 0 })
  })

  test('are not answered before they are committed', async (t) => {
    const place = await openTestDatabase(t)
    const database = place.open('fd_app', 1)
    const admin = await place.openAdmin()
    await admin.query(`insert into stores (tenant_ref, display_name) values ('acme', 'Acme')`)
    // Refused by a trigger that fires at the commit, which here is the Sync.
    const unbalanced = database.tenant('acme').run(sql`
      with journal as (
        insert into ledger_journals (tenant_ref, id, kind, currency)
        values ('acme', gen_random_uuid(), 'odd', 'USD') returning tenant_ref, id
      )
      insert into ledger_entries (tenant_ref, journal_id, position, account, currency, amount_cents)
      select tenant_ref, id, 0, 'sales', 'USD', 5 from journal`)
    await assert.rejects(unbalanced, { code: 'FD003' })
    assert.deepEqual(database.load, { busy: 0, waiting: 0 })
  })
})
