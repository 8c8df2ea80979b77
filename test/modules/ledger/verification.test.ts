import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { TenantDb } from '../../../src/db/database.ts'
import { chainHash, GENESIS } from '../../../src/modules/ledger/chain.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import { post, postAll } from '../../../src/modules/ledger/money.ts'
import { listLinks } from '../../../src/modules/ledger/queries.ts'
import type { Verified } from '../../../src/modules/ledger/schema.ts'
import * as ledger from '../../../src/modules/ledger/service.ts'
import { advance } from '../../../src/modules/ledger/verified.ts'
import * as queries from '../../../src/modules/ledger/verified-queries.ts'
import { createVerification } from '../../../src/modules/ledger/verify-jobs.ts'
import { verifyLedgers } from '../../../src/verify-ledger.ts'
import { eventually } from '../../harness/eventually.ts'
import { openPlatform } from '../../harness/platform.ts'

const DAY_MS = 86_400_000

const platform = await openPlatform({ after })
const superuser = await platform.database.openAdmin()
const key = randomBytes(32)

async function openStore() {
  const [tenant = ''] = await platform.addStores(1)
  return platform.app.tenant(tenant)
}

const sale = (cents: number) => ({
  kind: 'sale',
  currency: 'USD',
  entries: [
    { account: 'card_clearing' as const, amount_cents: cents },
    { account: 'sales' as const, amount_cents: -cents },
  ],
})

async function sellMany(db: TenantDb, count: number) {
  await db.transaction('sell', (tx) =>
    postAll(
      tx,
      Array.from({ length: count }, (_, n) => sale(n + 1)),
    ),
  )
  while ((await chainNewJournals(platform.worker)) > 0);
}

interface LogLine {
  tenant_ref?: string
  fault?: string
  at?: string
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

const journalOf = (sequence: number) =>
  `(select journal_id from ledger_seals where tenant_ref = $1 and sequence = ${sequence})`

/** Each kind of tampering, with the fault that it must be found as. */
const TAMPERING: Record<string, { act: string; fault: string; at: string | RegExp }> = {
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

describe('the loop that verifies ledgers', () => {
  test('verifies new links in the next step, and records how far', async () => {
    const { step, alerts } = openVerifier()
    const db = await openStore()
    await sellMany(db, 5)
    assert.equal((await readRow(db)).due, true)
    assert.ok((await step()) > 0)
    const first = await readRow(db)
    assert.deepEqual([first.sequence, first.fault, first.due], [5, null, false])
    await sellMany(db, 2)
    assert.equal((await readRow(db)).due, true)
    await step()
    assert.equal((await readRow(db)).sequence, 7)
    assert.equal(await step(), 0, 'there is nothing left to do')
    assert.deepEqual(alerts, [])
  })

  test('verifies the whole history again within the period, and not sooner than planned', async () => {
    const verifier = openVerifier()
    const { step, clock } = verifier
    const db = await openStore()
    await sellMany(db, 600)
    await step()
    await makeDue(db)
    await step()
    assert.equal((await readRow(db)).walk_sequence, 0)
    const begun = clock.now
    const seen: number[] = []
    for (let n = 0; n < 3; n++) {
      await walkOn(db, verifier)
      seen.push((await readRow(db)).walk_sequence)
    }
    assert.deepEqual(seen, [500, 600, 0])
    assert.equal((await readRow(db)).walked_at.getTime(), clock.now)
    assert.ok(Math.abs(clock.now - begun - 7 * DAY_MS) < 60_000)
  })

  for (const [what, { act, fault, at }] of Object.entries(TAMPERING)) {
    const isStray = fault === 'stray_journal'
    const when = isStray ? 'within the period' : 'in the next step'
    test(`finds ${what} that is not verified yet ${when}`, async () => {
      const verifier = openVerifier()
      const { step, alerts } = verifier
      const db = await openStore()
      await sellMany(db, 4)
      await tamper(db, act)
      await step()
      for (let n = 0; isStray && n < 2; n++) await walkOn(db, verifier)
      const row = await readRow(db)
      assert.deepEqual([row.fault, row.fault_at], [fault, at])
      assert.deepEqual(
        alerts.filter(({ tenant_ref }) => tenant_ref === db.tenant),
        [{ tenant_ref: db.tenant, fault, at }],
      )
      const proven = await ledger.proof(db, { key })
      assert.deepEqual([proven.verified, proven.fault?.kind], [false, fault])
      assert.equal(proven.broken_at, isStray ? null : Number(at))
    })

    test(`finds ${what} among verified ones within the period`, async () => {
      const verifier = openVerifier()
      const { step, clock, alerts } = verifier
      const db = await openStore()
      await sellMany(db, 4)
      await step()
      assert.equal((await readRow(db)).sequence, 4)
      await tamper(db, act)
      await sellMany(db, 1)
      await step()
      assert.deepEqual((await readRow(db)).sequence, 5, 'new links are verified after the old')
      const begun = clock.now
      while ((await readRow(db)).fault === null) {
        await walkOn(db, verifier)
        assert.ok(clock.now - begun <= 8 * DAY_MS, 'it is found within the period')
      }
      const row = await readRow(db)
      assert.deepEqual([row.fault, row.fault_at], [fault, at])
      assert.ok(alerts.some(({ tenant_ref }) => tenant_ref === db.tenant))
      assert.equal((await ledger.proof(db, { key })).verified, false)
      const whole = await ledger.proof(db, { key, from: 1 })
      assert.equal(whole.broken_at, isStray ? null : Number(at))
    })
  }

  test('finds at once that verified history was written anew, with hashes that match', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    await sellMany(db, 4)
    await step()
    await tamper(
      db,
      `update ledger_entries set amount_cents = amount_cents * 2
        where tenant_ref = $1 and journal_id = ${journalOf(2)}`,
    )
    let previous = GENESIS
    for (const { sequence, journal } of await listLinks(db, 1, 10)) {
      assert.ok(journal)
      const hash = chainHash(previous, sequence, journal)
      previous = hash.toString('hex')
      await tamper(
        db,
        'update ledger_seals set hash = $3 where tenant_ref = $1 and sequence = $2',
        sequence,
        hash,
      )
    }
    const proven = await ledger.proof(db, { key })
    assert.deepEqual([proven.verified, proven.fault?.kind], [false, 'rewritten'])
    await sellMany(db, 1)
    await step()
    const row = await readRow(db)
    assert.deepEqual([row.fault, row.fault_at, row.sequence], ['rewritten', '4', 4])
  })

  test('finds at once that the newest verified links were removed', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    await sellMany(db, 4)
    await step()
    await tamper(db, 'delete from ledger_seals where tenant_ref = $1 and sequence = 4')
    assert.equal((await ledger.proof(db, { key })).fault?.kind, 'rewritten')
    await makeDue(db)
    await step()
    assert.equal((await readRow(db)).fault, 'rewritten')
  })

  const forgeries: Record<string, string> = {
    'a later position': `sequence = 4,
       hash = (select hash from ledger_seals where tenant_ref = $1 and sequence = 4)`,
    'other balances': `balances = replace(balances::text, '3', '4')::jsonb`,
    'a walk that is further': `walk_sequence = 2,
       walk_hash = (select hash from ledger_seals where tenant_ref = $1 and sequence = 2)`,
    'a walk that never comes': `walk_due_at = '2999-01-01'`,
    'no signature': 'mac = null',
  }
  for (const [what, change] of Object.entries(forgeries)) {
    test(`does not believe a record that it did not sign: ${what}`, async () => {
      const { step, alerts } = openVerifier()
      const db = await openStore()
      await sellMany(db, 2)
      await step()
      await sellMany(db, 2)
      await tamper(db, `update ledger_verified set ${change} where tenant_ref = $1`)
      const proven = await ledger.proof(db, { key })
      assert.deepEqual(
        [proven.verified, proven.fault?.kind, proven.checkpoint],
        [false, 'forged', null],
      )
      assert.deepEqual(
        proven.trial_balance.map(({ balance_cents }) => balance_cents),
        [6, -6],
        'the trial balance does not begin with it',
      )
      for (let n = 0; n < 2; n++) {
        await step()
        await makeDue(db)
      }
      assert.equal((await readRow(db)).fault, 'forged')
      assert.deepEqual(
        alerts.filter(({ tenant_ref }) => tenant_ref === db.tenant),
        [{ tenant_ref: db.tenant, fault: 'forged', at: (await readRow(db)).fault_at }],
      )
    })
  }

  test('does not believe the record of another store', async () => {
    const { step } = openVerifier()
    const [db, other] = [await openStore(), await openStore()]
    await sellMany(db, 3)
    await sellMany(other, 3)
    await step()
    const columns = 'sequence, hash, balances, verified_at, walk_due_at, mac'
    await tamper(
      db,
      `update ledger_verified set (${columns}) =
         (select ${columns} from ledger_verified where tenant_ref = $2) where tenant_ref = $1`,
      other.tenant,
    )
    assert.equal((await ledger.proof(db, { key })).fault?.kind, 'forged')
  })

  test('notices while it runs that a record was set back or removed', async () => {
    const { step } = openVerifier()
    const [db, other] = [await openStore(), await openStore()]
    for (const store of [db, other]) await sellMany(store, 2)
    await step()
    const { rows } = await superuser.query('select * from ledger_verified where tenant_ref = $1', [
      db.tenant,
    ])
    for (const store of [db, other]) await sellMany(store, 2)
    await step()
    const old = rows[0]
    await tamper(
      db,
      `update ledger_verified set sequence = $2, hash = $3, balances = $4, verified_at = $5,
              walk_due_at = $6, mac = $7, due_at = now() where tenant_ref = $1`,
      ...[old.sequence, old.hash, JSON.stringify(old.balances)],
      ...[old.verified_at, old.walk_due_at, old.mac],
    )
    await tamper(other, 'delete from ledger_verified where tenant_ref = $1')
    await sellMany(other, 1)
    await step()
    assert.deepEqual((await readRow(db)).fault, 'rolled_back')
    assert.deepEqual((await readRow(other)).fault, 'rolled_back')
    // A process that starts later has seen nothing, and still knows it.
    await makeDue(db)
    await openVerifier().step()
    assert.deepEqual((await readRow(db)).fault, 'rolled_back')
  })

  test('finds a checkpoint of the balances that was changed, new or old', async () => {
    const verifier = openVerifier()
    const { step, clock } = verifier
    const db = await openStore()
    await sellMany(db, 1_000)
    await step()
    const change = `update ledger_checkpoints
                       set balance_cents = balance_cents + sign(balance_cents)
                     where tenant_ref = $1 and sequence = `
    await tamper(db, `${change} 1000`)
    const begun = clock.now
    while ((await readRow(db)).fault === null) {
      await walkOn(db, verifier)
      assert.ok(clock.now - begun <= 8 * DAY_MS)
    }
    const row = await readRow(db)
    assert.deepEqual([row.fault, row.fault_at], ['wrong_checkpoint', '1000'])
    const fresh = await openStore()
    await sellMany(fresh, 1_000)
    await tamper(fresh, `${change} 1000`)
    await step()
    assert.deepEqual((await readRow(fresh)).fault, 'wrong_checkpoint')
  })

  test('reports a fault when it is found and once a day, and forgets it when it is repaired', async () => {
    const { step, clock, alerts, repaired } = openVerifier()
    const db = await openStore()
    await sellMany(db, 2)
    const double = `update ledger_entries set amount_cents = amount_cents * 2
                     where tenant_ref = $1 and journal_id = ${journalOf(2)}`
    await tamper(db, double)
    for (const hours of [0, 1, 1, 23]) {
      clock.now += hours * 3_600_000
      await makeDue(db)
      await step()
    }
    assert.equal(alerts.filter(({ tenant_ref }) => tenant_ref === db.tenant).length, 2)
    await tamper(db, double.replace('* 2', '/ 2'))
    await makeDue(db)
    await step()
    const row = await readRow(db)
    assert.deepEqual([row.fault, row.sequence], [null, 2])
    assert.deepEqual(repaired, [{ tenant_ref: db.tenant }])
    assert.equal((await ledger.proof(db, { key })).verified, true)
  })

  test('does a bounded part of a long chain, and every store has its turn', async () => {
    const { step } = openVerifier()
    const [long, short] = [await openStore(), await openStore()]
    await sellMany(long, 4_100)
    await sellMany(short, 1)
    const seen: number[] = []
    do {
      await step()
      seen.push((await readRow(long)).sequence)
    } while ((await readRow(long)).due)
    assert.deepEqual(seen, [2_000, 4_000, 4_100])
    assert.equal((await readRow(short)).sequence, 1)
    const proven = await ledger.proof(long, { key })
    assert.deepEqual([proven.from, proven.to, proven.verified], [4_101, 4_100, true])
    assert.equal(proven.trial_balance[0]?.balance_cents, (4_100 * 4_101) / 2)
  })

  test('is due again when links were added while it worked, also in an open transaction', async () => {
    const db = await openStore()
    await sellMany(db, 2)
    const worker = platform.worker.tenant(db.tenant)
    const claim = async () => {
      const [claimed] = await queries.verificationQueue.claim(worker, 1)
      assert.ok(claimed)
      const { tenant_ref, id, lease_token, ...stored } = claimed
      const now = Date.now()
      const { verified, dueAt } = await advance(worker, stored as Verified, {
        ...{ key, now, periodMs: 7 * DAY_MS, floor: 0 },
      })
      return () => queries.finish(worker, { tenant_ref, id, lease_token }, verified, dueAt)
    }
    const finish = await claim()
    await sellMany(db, 1)
    await finish()
    assert.equal((await readRow(db)).due, true)

    const finishLater = await claim()
    const numbering = Promise.withResolvers<void>()
    const announced = Promise.withResolvers<void>()
    const transaction = worker.transaction('test: number journals', async (tx) => {
      await queries.announceLinks(tx, 4)
      announced.resolve()
      await numbering.promise
    })
    await announced.promise
    const finishing = finishLater()
    await eventually(async () => {
      const { rows } = await superuser.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%ledger_verified%'`,
      )
      assert.ok(rows.length > 0)
    })
    numbering.resolve()
    await Promise.all([transaction, finishing])
    assert.equal((await readRow(db)).due, true)
  })

  test('adds links of a journal that commits late to what is verified', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    const posted = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const late = db.transaction('late', async (tx) => {
      await post(tx, sale(50))
      posted.resolve()
      await commit.promise
    })
    await posted.promise
    await sellMany(db, 3)
    await step()
    assert.equal((await readRow(db)).sequence, 3)
    commit.resolve()
    await late
    await sellMany(db, 1)
    await step()
    assert.equal((await readRow(db)).sequence, 5)
    assert.deepEqual(
      (await ledger.proof(db, { key })).trial_balance.map(({ balance_cents }) => balance_cents),
      [57, -57],
    )
  })
})

describe('the summary for the doctor', () => {
  test('counts stores with a fault, without a record, and put off for ever', async () => {
    const operator = platform.database.open('fd_operator').global
    const summarize = () => queries.summarize(operator, 900, 7)
    const { step } = openVerifier()
    const [faulty, missing, postponed] = [await openStore(), await openStore(), await openStore()]
    for (const db of [faulty, missing, postponed]) await sellMany(db, 3)
    const before = await summarize()
    await tamper(faulty, TAMPERING['a changed amount']?.act ?? '')
    await tamper(missing, 'delete from ledger_verified where tenant_ref = $1')
    await step()
    await tamper(postponed, `update ledger_verified set due_at = 'infinity' where tenant_ref = $1`)
    assert.deepEqual(await summarize(), {
      stores: before.stores - 1,
      faulty: before.faulty + 1,
      missing: before.missing + 1,
      late: before.late,
      postponed: before.postponed + 1,
    })
  })
})

describe('the role verify-ledger', () => {
  const run = async (tenant: string | null, accept = false) => {
    const lines: string[] = []
    const databases = {
      operatorDatabase: platform.database.open('fd_operator'),
      workerDatabase: platform.worker,
      key: () => key,
    }
    const exitCode = await verifyLedgers(databases, { tenant, accept }, (line) => lines.push(line))
    return { exitCode, lines }
  }

  test('verifies from the first journal, whatever is recorded', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    await sellMany(db, 3)
    await step()
    assert.deepEqual(await run(db.tenant), {
      exitCode: 0,
      lines: [`ok    ${db.tenant}  3  verified\n`],
    })
    await tamper(db, TAMPERING['a changed amount']?.act ?? '')
    assert.deepEqual(await run(db.tenant, true), {
      exitCode: 1,
      lines: [`FAIL  ${db.tenant}  1  broken_link at 2\n`],
    })
    assert.ok((await run(null)).lines.length > 1)
    assert.deepEqual((await run(randomUUID())).lines, ['there is no ledger to verify\n'])
  })

  test('says which ledger has more money than can be counted, and goes on with the others', async () => {
    const [before, large, after] = [await openStore(), await openStore(), await openStore()]
    await sellMany(before, 1)
    await large.transaction('sell', (tx) =>
      postAll(tx, [sale(Number.MAX_SAFE_INTEGER), sale(Number.MAX_SAFE_INTEGER)]),
    )
    await sellMany(after, 1)
    const { exitCode, lines } = await run(null)
    assert.equal(exitCode, 1)
    const lineOf = ({ tenant }: TenantDb) => lines.find((line) => line.includes(`  ${tenant}  `))
    assert.equal(lineOf(large), `FAIL  ${large.tenant}  1  out_of_range at 2\n`)
    for (const db of [before, after]) {
      assert.equal(lineOf(db), `ok    ${db.tenant}  1  verified\n`)
    }
    await assert.rejects(ledger.proof(large, { key }), RangeError, 'no rounded balance is answered')
    const { step, alerts } = openVerifier()
    await step()
    const { sequence, fault, fault_at } = await readRow(large)
    assert.deepEqual([sequence, fault, fault_at], [1, 'out_of_range', '2'])
    assert.ok(alerts.some(({ tenant_ref }) => tenant_ref === large.tenant))
  })

  test('replaces an untrue record only when that is accepted', async () => {
    const { step } = openVerifier()
    const db = await openStore()
    await sellMany(db, 3)
    await step()
    await tamper(db, 'update ledger_verified set mac = sha256(mac) where tenant_ref = $1')
    assert.deepEqual((await run(db.tenant)).lines, [`FAIL  ${db.tenant}  3  forged at 3\n`])
    await makeDue(db)
    await step()
    assert.equal((await readRow(db)).fault, 'forged')
    assert.equal((await run(db.tenant, true)).exitCode, 0)
    await step()
    assert.equal((await readRow(db)).fault, null)
    assert.equal((await ledger.proof(db, { key })).verified, true)
  })
})
