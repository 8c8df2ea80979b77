import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TenantDb } from '../../../src/db/database.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import { postAll } from '../../../src/modules/ledger/money.ts'
import { createVerification } from '../../../src/modules/ledger/verify-jobs.ts'
import { openPlatform } from '../../harness/platform.ts'

export const sale = (cents: number) => ({
  kind: 'sale',
  currency: 'USD',
  entries: [
    { account: 'card_clearing' as const, amount_cents: cents },
    { account: 'sales' as const, amount_cents: -cents },
  ],
})

export const journalOf = (sequence: number) =>
  `(select journal_id from ledger_seals where tenant_ref = $1 and sequence = ${sequence})`

/** Each kind of tampering, with the fault that it must be found as. */
export const TAMPERING: Record<string, { act: string; fault: string; at: string | RegExp }> = {
  'a changed amount': {
    act: `update ledger_entries set amount_cents = amount_cents * 2
           where tenant_ref = $1 and journal_id = ${journalOf(2)}`,
    fault: 'broken_link',
    at: '2',
  },
  'a deleted journal': {
    act: `with gone as (delete from ledger_entries
                         where tenant_ref = $1 and journal_id = ${journalOf(3)}
                        returning journal_id)
          delete from ledger_journals where tenant_ref = $1 and id in (select journal_id from gone)`,
    fault: 'broken_link',
    at: '3',
  },
  'an inserted journal': {
    act: `insert into ledger_journals (tenant_ref, id, kind, currency)
          values ($1, '00000000-0000-4000-8000-00000000abcd', 'sale', 'USD')`,
    fault: 'stray_journal',
    at: '00000000-0000-4000-8000-00000000abcd',
  },
  'two links that changed places': {
    act: `update ledger_seals set sequence = 99 where tenant_ref = $1 and sequence = 2;
          update ledger_seals set sequence = 2 where tenant_ref = $1 and sequence = 3;
          update ledger_seals set sequence = 3 where tenant_ref = $1 and sequence = 99`,
    fault: 'broken_link',
    at: '2',
  },
  'a link that was removed': {
    act: 'delete from ledger_seals where tenant_ref = $1 and sequence = 2',
    fault: 'broken_link',
    at: '2',
  },
}

interface LogLine {
  tenant_ref?: string
  fault?: string
  at?: string
}

/** Ledgers of many stores, and what verifies them. */
export async function openLedgers(scope: Parameters<typeof openPlatform>[0]) {
  const platform = await openPlatform(scope)
  const superuser = await platform.database.openAdmin()
  const key = randomBytes(32)

  async function openStore() {
    const [tenant = ''] = await platform.addStores(1)
    return platform.app.tenant(tenant)
  }

  async function sellMany(db: TenantDb, count: number) {
    await db.transaction('sell', (tx) =>
      postAll(
        tx,
        Array.from({ length: count }, (_, n) => sale(n + 1)),
      ),
    )
    while ((await chainNewJournals(platform.worker)) > 0);
  }

  /** A worker, whose machine time can be moved. */
  function openVerifier() {
    const alerts: LogLine[] = []
    const repaired: LogLine[] = []
    const clock = { now: Date.now() }
    const step = createVerification({
      database: platform.worker,
      key,
      days: 7,
      logger: {
        error: (line: LogLine) => void alerts.push(line),
        info: (line: LogLine) => void repaired.push(line),
      } as never,
      now: () => clock.now,
    })
    return { alerts, repaired, clock, step }
  }

  const readRow = async ({ tenant }: TenantDb) =>
    (
      await superuser.query(
        `select sequence::int, walk_sequence::int, walked_at, fault, fault_at, due_at,
                due_at <= now() as due, walk_due_at
           from ledger_verified where tenant_ref = $1`,
        [tenant],
      )
    ).rows[0]

  const makeDue = ({ tenant }: TenantDb) =>
    superuser.query('update ledger_verified set due_at = now() where tenant_ref = $1', [tenant])

  /** Moves the worker's time to the next slice of the history, and takes that step. */
  async function walkOn(db: TenantDb, { clock, step }: ReturnType<typeof openVerifier>) {
    const { walk_due_at } = await readRow(db)
    clock.now = Math.max(clock.now, walk_due_at?.getTime() ?? 0)
    await makeDue(db)
    await step()
  }

  /** Writes to the ledger as no login role may: as a superuser without triggers. */
  async function tamper({ tenant }: TenantDb, act: string, ...values: unknown[]) {
    await superuser.query('begin')
    await superuser.query('set local session_replication_role = replica')
    for (const statement of act.split(';')) {
      const { rowCount } = await superuser.query(statement, [tenant, ...values])
      assert.ok((rowCount ?? 0) > 0, 'something was changed')
    }
    await superuser.query('commit')
  }

  return {
    platform,
    superuser,
    key,
    openStore,
    sellMany,
    openVerifier,
    readRow,
    makeDue,
    walkOn,
    tamper,
  }
}
