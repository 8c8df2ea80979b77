import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { openSuperuser } from '../../harness/superuser.ts'

/** More rows than are read by a lookup of one, on any plan. */
const MANY = 2_000

/**
 * A connection in a transaction of the store, that makes its plans while the tables are empty. A trigger
 * keeps its plan, so that it must also be right for the many rows that come.
 */
async function openEmptyStore(t: TestContext) {
  const app = await openTestApp(t)
  await app.store('acme')
  const client = await openSuperuser(t, app.database)
  await client.query('analyze')
  await client.query(`begin; set local role fd_app; set local app.tenant = 'acme'`)
  const readSoFar = async (table: string) => {
    const { rows } = await client.query(
      `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
         from pg_stat_xact_user_tables where relname like $1`,
      [`${table}%`],
    )
    return rows[0].rows
  }
  return {
    run: (text: string) => client.query(text),
    /** Events with one delivery each. */
    deliver: (count: number) =>
      client.query(`
        with event as (
          insert into webhook_events (tenant_ref, type, data)
          select 'acme', 'plan', '{}' from generate_series(1, ${count})
          returning id)
        insert into webhook_deliveries (tenant_ref, event_id, subscription_id, event_type, endpoint_url)
        select 'acme', id, gen_random_uuid(), 'plan', 'https://shop.example/' from event`),
    /** Rows of a table that some work reads. */
    async rowsRead(table: string, work: () => Promise<unknown>): Promise<number> {
      const before = await readSoFar(table)
      await work()
      return (await readSoFar(table)) - before
    },
  }
}

test('a new delivery reads its own event, with a query plan from when the store had no rows', async (t) => {
  const { deliver, rowsRead } = await openEmptyStore(t)
  await deliver(1)
  await deliver(MANY)
  const read = await rowsRead('webhook_events', () => deliver(1))
  assert.ok(read >= 1 && read < 10, `${read} events were read`)
})

test('an event that is numbered reads its own delivery, with a query plan from when there was none', async (t) => {
  const { run, deliver, rowsRead } = await openEmptyStore(t)
  const number = (sequence: number) =>
    run(`
      update webhook_events
         set sequence = ${sequence}, payload = '{}', data = null, created_at = now()
       where tenant_ref = 'acme'
         and id = (select id from webhook_events where tenant_ref = 'acme' and sequence is null
                    order by id limit 1)`)
  await deliver(1)
  await number(1)
  await deliver(MANY)
  const read = await rowsRead('webhook_deliveries', () => number(2))
  assert.ok(read >= 1 && read < 10, `${read} deliveries were read`)
  const events = await rowsRead('webhook_events', () => number(3))
  assert.ok(events >= 1 && events < 20, `${events} events were read`)
})
