import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Type } from 'typebox'
import { LIVES } from '../../src/compose/lives.ts'
import type { Database } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { approveDue } from '../../src/modules/affiliates/jobs.ts'
import { eraseOldCodes } from '../../src/modules/gift-cards/jobs.ts'
import { deleteUnconfirmed } from '../../src/modules/marketing/newsletter-jobs.ts'
import { eraseOldBodies } from '../../src/modules/provider-events/jobs.ts'
import { deleteOldCarts } from '../../src/modules/reminders/jobs.ts'
import { deleteOldAnswers } from '../../src/platform/idempotency-upkeep.ts'
import { sendDue } from '../../src/platform/mail.ts'
import { deleteHandled } from '../../src/platform/outbox.ts'
import { pruneOldRows } from '../../src/platform/prune.ts'
import { deleteOldCounters } from '../../src/platform/rate-limits-postgres.ts'
import { openTestDatabase } from '../harness/database.ts'
import { until } from '../harness/eventually.ts'
import { share } from '../harness/scope.ts'
import { PERIODS } from './retention/setup.ts'

interface Upkeep {
  /** Their table, or what is done with them. */
  rows: string
  /** Inserts what `rows` selects into every store. */
  seed: (rows: (columns: string) => string) => string
  run: (worker: Database) => Promise<number>
  /** How many rows of a store one step takes. */
  limit: number
}

/** Selects rows for every store, the oldest first: so many old ones, and so many that are not. */
const rowsOf = (old: number, young: number) => (columns: string) =>
  `
  select tenant_ref, ${columns}
    from stores, generate_series(1, ${old + young}) n,
         lateral (select now() + (n - ${old + young}) * interval '1 s'
                         - case when n <= ${old} then interval '100 days' else '0' end as at) t`

const BY_STORE: readonly Upkeep[] = [
  {
    rows: 'idempotency_keys',
    seed: (rows) =>
      `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, state,
                                         response_status, response_body, created_at, answered_at)
           ${rows(`'checkout', n::text, sha256('a'), 'answered', 201, '{}', at, at`)}`,
    run: deleteOldAnswers,
    limit: 1_000,
  },
  {
    rows: 'outbox',
    seed: (rows) =>
      `insert into outbox (tenant_ref, type, payload, created_at, handled_at, next_attempt_at)
           ${rows(`'x', '{}', at, at, null`)}`,
    run: deleteHandled,
    limit: 1_000,
  },
  {
    rows: 'gateway_events',
    seed: (rows) =>
      `insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
           select tenant_ref, 'p', tenant_ref, 'nmi', 'k' from stores;
           insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme, body,
                                       headers, received_at)
           ${rows(`'p', tenant_ref, n::text, 'nmi', 'b', '{}', at`)}`,
    run: eraseOldBodies,
    limit: 500,
  },
  {
    rows: 'gift_cards',
    seed: (rows) =>
      `insert into gift_cards (tenant_ref, code_hmac, code_last4, initial_balance_cents,
                                   balance_cents, currency, code_sealed, created_at, code_until)
           ${rows(`sha256((tenant_ref || n)::bytea), '0000', 1, 1, 'EUR', 's', at, at + interval '1 day'`)}`,
    run: eraseOldCodes,
    limit: 1_000,
  },
]

const OTHERS: readonly Upkeep[] = [
  {
    rows: 'checkout_reminders',
    seed: (rows) =>
      `insert into checkout_reminders (tenant_ref, email, email_folded, items, state, reason, seen_at)
       ${rows(`n::text, n::text, '[]', 'stopped', 'x', at`)}`,
    run: deleteOldCarts,
    limit: 1_000,
  },
  {
    rows: 'newsletter_subscribers',
    seed: (rows) =>
      `insert into newsletter_subscribers (tenant_ref, email, email_folded, requested_at)
       ${rows(`n::text, n::text, at`)}`,
    run: deleteUnconfirmed,
    limit: 1_000,
  },
  {
    rows: 'affiliate_commissions',
    seed: (rows) =>
      `insert into affiliate_commissions (tenant_ref, id, affiliate_id, order_id, type, currency,
                                          base_cents, amount_cents, status, approves_at)
       ${rows(`fd_uuid(), fd_uuid(), fd_uuid(), 'sale', 'EUR', 1, 1, 'pending', at`)}`,
    run: approveDue,
    limit: 500,
  },
  {
    rows: 'mails to send',
    seed: (rows) =>
      `insert into mails (tenant_ref, recipient, subject, body, next_attempt_at)
       ${rows(`'a@example.com', 's', 'b', at`)}`,
    run: (worker) => sendDue(worker, { deliver: async () => {} }),
    limit: 5,
  },
  {
    rows: 'old mails',
    seed: (rows) =>
      `insert into mails (tenant_ref, recipient, subject, body, next_attempt_at, created_at)
       ${rows(`'a@example.com', 's', 'b', null, at`)}`,
    run: (worker) =>
      pruneOldRows({ database: worker, lives: LIVES, periods: PERIODS, archive: null }),
    limit: 1_000,
  },
  {
    rows: 'limit_counters',
    seed: (rows) =>
      `insert into limit_counters (bucket, window_start, hits)
       select bucket, at, 1 from (${rows('n::text as bucket, at')}) as r`,
    run: (worker) => deleteOldCounters(worker.directory),
    limit: 1_000,
  },
]

/** A database with so many stores, for all tests of a suite: each upkeep has rows of its own. */
const shareDatabase = (stores: number, settings: readonly string[] = []) =>
  share(async (scope) => {
    const database = await openTestDatabase(scope)
    const admin = await database.openAdmin()
    const name = new URL(database.url).pathname.slice(1)
    for (const setting of settings) await admin.query(`alter database ${name} set ${setting}`)
    await admin.query(`insert into stores (tenant_ref, display_name)
                       select 'store-' || n, 'S' from generate_series(1, ${stores}) n`)
    await admin.query('set session_replication_role = replica')
    return { admin, worker: database.open('fd_worker', 1) }
  })

describe('the upkeep reads the rows of a store once, and no others', () => {
  const STORES = 100
  const ROWS = 50
  const shared = shareDatabase(STORES)

  for (const upkeep of BY_STORE) test(upkeep.rows, () => readsOnce(upkeep))

  async function readsOnce({ rows: table, seed, run }: Upkeep) {
    const { admin, worker } = shared.current
    await admin.query(seed(rowsOf(ROWS, ROWS)))
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
    let done = 0
    for (let rows = 1; rows > 0; done += rows) rows = await run(worker)
    assert.equal(done, STORES * ROWS)
    // Otherwise a connection tells within seconds what it has read.
    await worker.due.many(Type.Object({}), sql`select pg_stat_force_next_flush()::text`)
    await until('the rows are counted', async () => (await readSoFar()).written >= done)
    const { read } = await readSoFar()
    const times = (read - before.read) / done
    assert.ok(times <= 5, `${times.toFixed(1)} rows are read for each that is written`)
  }
})

describe('one step takes no more rows than it may, whatever the plan', () => {
  // Without these PostgreSQL joins in the one way that reads a sub-select again for each row.
  const ways = ['hashjoin', 'mergejoin', 'hashagg', 'sort', 'material', 'memoize']
  const shared = shareDatabase(
    1,
    ways.map((way) => `enable_${way} = off`),
  )

  for (const { rows, seed, run, limit } of [...BY_STORE, ...OTHERS]) {
    test(rows, async () => {
      const { admin, worker } = shared.current
      await admin.query(seed(rowsOf(2 * limit + 1, 0)))
      const steps = [await run(worker), await run(worker), await run(worker), await run(worker)]
      assert.deepEqual(steps, [limit, limit, 1, 0])
    })
  }
})
