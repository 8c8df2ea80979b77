import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import type { Database } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { eraseOldBodies } from '../../src/modules/gateway/jobs.ts'
import { eraseOldCodes } from '../../src/modules/gift-cards/jobs.ts'
import { deleteOldAnswers } from '../../src/platform/idempotency-upkeep.ts'
import { deleteHandled } from '../../src/platform/outbox.ts'
import { openTestDatabase } from '../harness/database.ts'
import { until } from '../harness/eventually.ts'

const STORES = 100
const ROWS = 50

interface Upkeep {
  table: string
  /** Inserts rows into every store: these are old, and as many are not. */
  seed: string
  run: (worker: Database) => Promise<number>
}

const each = (columns: string) => `
  select tenant_ref, ${columns}
    from stores, generate_series(1, ${2 * ROWS}) n,
         lateral (select now() - n * interval '1 s'
                         - case when n <= ${ROWS} then interval '100 days' else '0' end as at) t`

const UPKEEPS: readonly Upkeep[] = [
  {
    table: 'idempotency_keys',
    seed: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, state,
                                         response_status, response_body, created_at, answered_at)
           ${each(`'checkout', n::text, sha256('a'), 'answered', 201, '{}', at, at`)}`,
    run: deleteOldAnswers,
  },
  {
    table: 'outbox',
    seed: `insert into outbox (tenant_ref, type, payload, created_at, handled_at, next_attempt_at)
           ${each(`'x', '{}', at, at, null`)}`,
    run: deleteHandled,
  },
  {
    table: 'gateway_events',
    seed: `insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
           select tenant_ref, 'p', tenant_ref, 'nmi', 'k' from stores;
           insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme, body,
                                       headers, received_at)
           ${each(`'p', tenant_ref, n::text, 'nmi', 'b', '{}', at`)}`,
    run: eraseOldBodies,
  },
  {
    table: 'gift_cards',
    seed: `insert into gift_cards (tenant_ref, code_hmac, code_last4, initial_balance_cents,
                                   balance_cents, currency, code_sealed, created_at, code_until)
           ${each(`sha256((tenant_ref || n)::bytea), '0000', 1, 1, 'EUR', 's', at, at + interval '1 day'`)}`,
    run: eraseOldCodes,
  },
]

for (const upkeep of UPKEEPS) {
  test(`the upkeep of ${upkeep.table} reads the rows of a store once, and no others`, (t) =>
    readsOnce(t, upkeep))
}

async function readsOnce(t: TestContext, { table, seed, run }: Upkeep) {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name)
                     select 'store-' || n, 'S' from generate_series(1, ${STORES}) n`)
  await admin.query('set session_replication_role = replica')
  await admin.query(seed)
  await admin.query(`vacuum analyze ${table}`)
  const readSoFar = async () => {
    const { rows } = await admin.query(
      `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as read,
              n_tup_upd + n_tup_del as written
         from pg_stat_user_tables where relname = $1`,
      [table],
    )
    return { read: Number(rows[0].read), written: Number(rows[0].written) }
  }
  const before = await readSoFar()
  const worker = database.open('fd_worker', 1)
  let done = 0
  for (let rows = 1; rows > 0; done += rows) rows = await run(worker)
  assert.equal(done, STORES * ROWS)
  // Otherwise a connection tells within seconds what it has read.
  await worker.global.many(Type.Object({}), sql`select pg_stat_force_next_flush()::text`)
  await until('the rows are counted', async () => (await readSoFar()).written >= done)
  const { read } = await readSoFar()
  const times = (read - before.read) / done
  assert.ok(times <= 5, `${times.toFixed(1)} rows are read for each that is written`)
}
