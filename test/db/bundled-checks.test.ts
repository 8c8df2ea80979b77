import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type pg from 'pg'
import { openTestDatabase } from '../harness/database.ts'

/** Tables whose checks are one function of the row, with the conditions by their names (decision 0050). */
async function bundlesOf(admin: pg.Client): Promise<Map<string, Record<string, string>>> {
  const { rows } = await admin.query(`
    select conrelid::regclass::text as table, obj_description(oid, 'pg_constraint')::jsonb as conditions
      from pg_constraint
     where contype = 'c' and conname = conrelid::regclass || '_checks'`)
  return new Map(rows.map(({ table, conditions }) => [table, conditions]))
}

const checksOf = async (admin: pg.Client, table: string) => {
  const { rows } = await admin.query(
    `select conname as name, pg_get_expr(conbin, conrelid) as condition
       from pg_constraint where contype = 'c' and conrelid = $1::regclass order by 1`,
    [table],
  )
  return rows
}

const functionOf = async (admin: pg.Client, table: string) => {
  const { rows } = await admin.query('select prosrc from pg_proc where proname = $1', [
    `fd_check_${table}`,
  ])
  return rows[0]?.prosrc as string
}

describe('the checks of a table as one', () => {
  test('are the only checks that the table has', async (t) => {
    const admin = await (await openTestDatabase(t)).openAdmin()
    const bundles = await bundlesOf(admin)
    assert.ok(bundles.has('orders') && bundles.has('ledger_entries'))
    for (const table of bundles.keys()) {
      const names = (await checksOf(admin, table)).map(({ name }) => name)
      assert.deepEqual(names, [`${table}_checks`], `${table} has a check outside its bundle`)
    }
  })

  test('can be taken apart into single checks and bundled into the same function again', async (t) => {
    const admin = await (await openTestDatabase(t)).openAdmin()
    for (const [table, conditions] of await bundlesOf(admin)) {
      const before = await functionOf(admin, table)
      await admin.query(`call fd_unbundle_checks('${table}')`)
      const checks = await checksOf(admin, table)
      assert.deepEqual(
        Object.fromEntries(checks.map(({ name, condition }) => [name, condition])),
        conditions,
      )
      assert.equal(await functionOf(admin, table), undefined)
      await admin.query(`call fd_bundle_checks('${table}')`)
      assert.equal(await functionOf(admin, table), before)
    }
  })

  test('refuse the same rows as the single checks, by the same names', async (t) => {
    const admin = await (await openTestDatabase(t)).openAdmin()
    await admin.query(`
      create table boxes (a bigint, b bigint, "position" text, kind text,
        constraint boxes_a check (a >= 0),
        constraint boxes_within check (a <= b and length("position") < 3),
        constraint boxes_kind check (kind in ('a', 'kind', 'it''s b')));
      call fd_bundle_checks('boxes')`)
    const refusalOf = async (...values: unknown[]) => {
      try {
        await admin.query('insert into boxes values ($1, $2, $3, $4)', values)
        return null
      } catch (error) {
        const { code, constraint, table } = error as pg.DatabaseError
        return { code, constraint, table }
      }
    }
    const refused = (constraint: string) => ({ code: '23514', constraint, table: 'boxes' })
    assert.equal(await refusalOf(1, 2, 'ab', 'kind'), null)
    assert.equal(await refusalOf(1, 2, 'ab', "it's b"), null)
    assert.equal(await refusalOf(null, null, null, null), null)
    assert.deepEqual(await refusalOf(-1, 2, 'ab', 'kind'), refused('boxes_a'))
    assert.deepEqual(await refusalOf(3, 2, 'ab', 'kind'), refused('boxes_within'))
    assert.deepEqual(await refusalOf(null, 2, 'abc', 'kind'), refused('boxes_within'))
    assert.deepEqual(await refusalOf(null, null, null, 'b'), refused('boxes_kind'))
  })

  test('hold for every role, and for rows that are there already', async (t) => {
    const admin = await (await openTestDatabase(t)).openAdmin()
    await admin.query(`
      insert into stores (tenant_ref, display_name) values ('acme', 'Acme');
      create table boxes (a bigint); insert into boxes values (-1)`)
    await assert.rejects(
      admin.query(
        `insert into ledger_journals (tenant_ref, id, kind, currency) values ('acme', gen_random_uuid(), 'a', 'USD');
         insert into ledger_entries (tenant_ref, journal_id, position, account, currency, amount_cents)
         select tenant_ref, id, 0, 'sales', 'USD', 0 from ledger_journals`,
      ),
      { code: '23514', constraint: 'ledger_entries_amount_cents_check' },
    )
    await assert.rejects(
      admin.query(`alter table boxes add constraint boxes_a check (a >= 0) not valid;
                   call fd_bundle_checks('boxes')`),
      { code: '23514' },
    )
  })
})
