import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts'
import { chainHash, GENESIS } from '../../../src/modules/ledger/chain.ts'
import { post } from '../../../src/modules/ledger/money.ts'
import { listLinks } from '../../../src/modules/ledger/queries.ts'
import type { Verified } from '../../../src/modules/ledger/schema.ts'
import * as ledger from '../../../src/modules/ledger/service.ts'
import { advance } from '../../../src/modules/ledger/verified.ts'
import * as queries from '../../../src/modules/ledger/verified-queries.ts'
import { eventually } from '../../harness/eventually.ts'
import { journalOf, openLedgers, sale, TAMPERING } from './setup.ts'

const {
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
} = await openLedgers({ after })

describe('the loop that verifies ledgers', () => {
  test('verifies new links in the next step, and records its position', async () => {
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

  test('finds at once that verified history was rewritten, with hashes that match', async () => {
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

  test('notices while it runs that its record was set back or removed', async () => {
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

  test('finds a changed checkpoint of the balances, new or old', async () => {
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
      clock.now += hours * HOUR_MS
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

  test('verifies a bounded part of a long chain at a time, and every store has its turn', async () => {
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

  test('is due again when links were added during its work, also in an open transaction', async () => {
    const db = await openStore()
    await sellMany(db, 2)
    const worker = platform.worker.tenant(db.tenant)
    const claim = async () => {
      const [claimed] = await queries.verificationQueue.claim(worker, 1)
      assert.ok(claimed)
      const { tenant_ref, id, lease_token, ...stored } = claimed
      const now = Date.now()
      const { verified, dueAt } = await advance(worker, stored as Verified, {
        key,
        now,
        periodMs: 7 * DAY_MS,
        floor: 0,
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
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'
            and query like '%ledger_verified%'`,
      )
      assert.ok(rows.length > 0)
    })
    numbering.resolve()
    await Promise.all([transaction, finishing])
    assert.equal((await readRow(db)).due, true)
  })

  test('verifies links of a journal that commits late', async () => {
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
