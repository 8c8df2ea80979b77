import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { TenantDb } from '../../../src/db/database.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import { post, postAll } from '../../../src/modules/ledger/money.ts'
import * as ledger from '../../../src/modules/ledger/service.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { openPlatform } from '../../harness/platform.ts'

const platform = await openPlatform({ after })
const superuser = await platform.database.openAdmin()

const key = randomBytes(32)
const proof = (db: TenantDb, from: number | null = null) => ledger.proof(db, { key, from })

/** The last part of a proof: a call may end before the head of the chain, and the next one goes on. */
async function proofToEnd(db: TenantDb, from: number | null = null) {
  let part = await proof(db, from)
  while (part.verified && part.next_from !== null) part = await proof(db, part.next_from)
  return part
}

async function openStore() {
  const [tenant = ''] = await platform.addStores(1)
  return platform.app.tenant(tenant)
}

const sell = (db: TenantDb, cents = 100) =>
  db.transaction('sell', (tx) =>
    post(tx, {
      kind: 'sale',
      currency: 'USD',
      entries: [
        { account: 'card_clearing', amount_cents: cents },
        { account: 'sales', amount_cents: -cents },
      ],
    }),
  )

const sellMany = async (db: TenantDb, count: number) => {
  for (let n = 1; n <= count; n++) await sell(db, n)
}

async function chainAll() {
  let total = 0
  for (let did = 1; did > 0; total += did) did = await chainNewJournals(platform.worker)
  return total
}

const listLinks = async ({ tenant }: TenantDb) =>
  (
    await superuser.query<{ sequence: string; journal_id: string; hash: string }>(
      `select sequence, journal_id, encode(hash, 'hex') as hash
         from ledger_seals where tenant_ref = $1 order by sequence`,
      [tenant],
    )
  ).rows

describe('the loop that numbers journals', () => {
  test('numbers every journal of a store without a gap, and only once', async () => {
    const [db, other] = [await openStore(), await openStore()]
    await sellMany(db, 5)
    await sellMany(other, 2)
    await chainAll()
    const first = await listLinks(db)
    assert.deepEqual(
      first.map(({ sequence }) => Number(sequence)),
      [1, 2, 3, 4, 5],
    )
    assert.equal((await listLinks(other)).length, 2)
    await sellMany(db, 2)
    await chainAll()
    const second = await listLinks(db)
    assert.deepEqual(second.slice(0, 5), first)
    assert.equal(second.length, 7)
    assert.equal(new Set(second.map(({ journal_id }) => journal_id)).size, 7)
    await assertOracles(superuser)
  })

  test('gives a journal that commits late the next number', async () => {
    const db = await openStore()
    let commit = () => {}
    const held = new Promise<void>((resolve) => {
      commit = resolve
    })
    let written = () => {}
    const begun = new Promise<void>((resolve) => {
      written = resolve
    })
    const late = db.transaction('late', async (tx) => {
      const entries = [
        { account: 'sales', amount_cents: -7 },
        { account: 'suspense', amount_cents: 7 },
      ] as const
      const posted = await post(tx, { kind: 'late', currency: 'USD', entries })
      written()
      await held
      return posted
    })
    await begun
    await sellMany(db, 3)
    await chainAll()
    assert.equal((await listLinks(db)).length, 3)
    commit()
    const { journal_id } = await late
    await chainAll()
    const links = await listLinks(db)
    assert.equal(links[3]?.journal_id, journal_id)
    assert.equal((await proof(db)).verified, true)
  })

  test('is safe with several workers on the same stores', async () => {
    const stores = await Promise.all([openStore(), openStore(), openStore()])
    const selling = Promise.all(stores.map((db) => sellMany(db, 40)))
    let sold = false
    const done = selling.then(() => {
      sold = true
    })
    const workers = [platform.worker, platform.database.open('fd_worker'), platform.worker]
    const chain = async (worker: (typeof workers)[number]) => {
      while (!sold || (await chainNewJournals(worker)) > 0) await chainNewJournals(worker)
    }
    await Promise.all([done, ...workers.map(chain)])
    await chainAll()
    for (const db of stores) {
      const { verified, sealed_count, unsealed_count } = await proof(db)
      assert.deepEqual([verified, sealed_count, unsealed_count], [true, 40, 0])
    }
    await assertOracles(superuser)
  })

  test('works for one store while the chains of many others are broken', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, openStore))
    for (const db of stores) await sell(db)
    await chainAll()
    const [sound, ...broken] = stores.toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1))
    assert.ok(sound)
    const names = broken.map(({ tenant }) => tenant)
    // A journal that has a number cannot get another.
    await superuser.query(
      `insert into ledger_unsealed (tenant_ref, journal_id)
       select tenant_ref, journal_id from ledger_seals where tenant_ref = any($1)`,
      [names],
    )
    await sell(sound)
    const failed = await chainNewJournals(platform.worker).catch(({ code }) => code)
    await superuser.query('delete from ledger_unsealed where tenant_ref = any($1)', [names])
    assert.equal(failed, '23505')
    assert.equal((await listLinks(sound)).length, 2)
  })

  test('leaves the work to the next step when it is stopped or fails', async () => {
    const db = await openStore()
    await sellMany(db, 3)
    assert.equal(await chainNewJournals(platform.worker, { signal: AbortSignal.abort() }), 0)
    // The last statement of the transaction fails, after the links were written.
    await superuser.query('revoke delete on ledger_unsealed from fd_worker')
    const committed: string[] = []
    const onNumbered = (tenant: string) => committed.push(tenant)
    const number = () => chainNewJournals(platform.worker, { onNumbered })
    await assert.rejects(number(), { code: '42501' })
    await superuser.query('grant delete on ledger_unsealed to fd_worker')
    assert.equal((await listLinks(db)).length, 0)
    assert.deepEqual(committed, [], 'what failed has not committed')
    assert.equal(await number(), 3)
    assert.equal(await number(), 0)
    assert.deepEqual(committed, [db.tenant])
    assert.equal((await proof(db)).verified, true)
  })
})

describe('the proof', () => {
  test('the proof of a store without a journal is empty and verified', async () => {
    const db = await openStore()
    assert.deepEqual(await proof(db), {
      trial_balance: [],
      balanced: true,
      journal_count: 0,
      sealed_count: 0,
      unsealed_count: 0,
      chain_head: null,
      verified: true,
      from: 1,
      to: 0,
      next_from: null,
      broken_at: null,
      checkpoint: null,
      fault: null,
    })
  })

  test('counts journals without a number, and begins at the requested number', async () => {
    const db = await openStore()
    await sellMany(db, 4)
    await chainAll()
    await sell(db, 90)
    const proven = await proof(db)
    assert.deepEqual(proven.trial_balance, [
      { account: 'card_clearing', currency: 'USD', balance_cents: 100 },
      { account: 'sales', currency: 'USD', balance_cents: -100 },
    ])
    assert.deepEqual(
      [proven.journal_count, proven.sealed_count, proven.unsealed_count, proven.balanced],
      [5, 4, 1, true],
    )
    assert.deepEqual(
      [proven.from, proven.to, proven.next_from, proven.verified],
      [1, 4, null, true],
    )
    const rest = await proof(db, 3)
    assert.deepEqual([rest.from, rest.to, rest.verified], [3, 4, true])
    assert.equal((await proof(db, 99)).verified, true)
  })

  const tampering: Record<string, [sql: string, brokenAt: number | null]> = {
    'an amount that was changed': [
      `update ledger_entries e set amount_cents = e.amount_cents * 2
         from ledger_seals s
        where e.tenant_ref = $1 and s.tenant_ref = $1 and s.sequence = 2
          and e.journal_id = s.journal_id`,
      2,
    ],
    'a kind that was changed': [
      `update ledger_journals j set kind = 'refund'
         from ledger_seals s
        where j.tenant_ref = $1 and s.tenant_ref = $1 and s.sequence = 3 and j.id = s.journal_id`,
      3,
    ],
    'a time that was changed by a microsecond': [
      `update ledger_journals j set created_at = j.created_at + interval '1 microsecond'
         from ledger_seals s
        where j.tenant_ref = $1 and s.tenant_ref = $1 and s.sequence = 1 and j.id = s.journal_id`,
      1,
    ],
    'entries that were added': [
      `insert into ledger_entries (tenant_ref, journal_id, position, account, currency, amount_cents)
       select $1, journal_id, n + 10, 'sales', 'USD', case n when 0 then 5 else -5 end
         from ledger_seals, generate_series(0, 1) n
        where tenant_ref = $1 and sequence = 4`,
      4,
    ],
    'a journal that was removed': [
      `with gone as (
         delete from ledger_entries e using ledger_seals s
          where e.tenant_ref = $1 and s.tenant_ref = $1 and s.sequence = 2
            and e.journal_id = s.journal_id
         returning e.journal_id
       )
       delete from ledger_journals where tenant_ref = $1 and id in (select journal_id from gone)`,
      2,
    ],
    'a link that was removed in the middle': [
      'delete from ledger_seals where tenant_ref = $1 and sequence = 2',
      2,
    ],
    'a link that was removed at the end': [
      'delete from ledger_seals where tenant_ref = $1 and sequence = 4',
      null,
    ],
    'a journal that is queued although it has a number, in place of another': [
      `with gone as (delete from ledger_seals where tenant_ref = $1 and sequence = 4)
       insert into ledger_unsealed (tenant_ref, journal_id)
       select tenant_ref, journal_id from ledger_seals where tenant_ref = $1 and sequence = 2`,
      null,
    ],
    'a forged checkpoint at a wrong number': [
      `insert into ledger_checkpoints (tenant_ref, sequence, account, currency, balance_cents)
       values ($1, 3, 'card_clearing', 'USD', 1), ($1, 3, 'sales', 'USD', -1)`,
      null,
    ],
    'a forged checkpoint beyond the chain': [
      `insert into ledger_checkpoints (tenant_ref, sequence, account, currency, balance_cents)
       values ($1, 1000, 'card_clearing', 'USD', 1), ($1, 1000, 'sales', 'USD', -1)`,
      null,
    ],
  }
  for (const [what, [act, brokenAt]] of Object.entries(tampering)) {
    test(`detects ${what}, also by a superuser`, async () => {
      const db = await openStore()
      await sellMany(db, 4)
      await chainAll()
      assert.equal((await proof(db)).verified, true)
      await superuser.query('begin')
      await superuser.query('set local session_replication_role = replica')
      assert.ok(((await superuser.query(act, [db.tenant])).rowCount ?? 0) > 0)
      await superuser.query('commit')
      const { verified, broken_at } = await proof(db)
      // The row would make the loop fail in the next tests.
      await superuser.query('delete from ledger_unsealed where tenant_ref = $1', [db.tenant])
      assert.deepEqual([verified, broken_at], [false, brokenAt])
    })
  }

  test('the proof of a long chain adds up from checkpoints, and verifies the checkpoints too', async () => {
    const db = await openStore()
    const sales = (count: number, cents: number) =>
      db.transaction('sell', (tx) =>
        postAll(
          tx,
          Array.from({ length: count }, () => ({
            kind: 'sale',
            currency: 'USD',
            entries: [
              { account: 'card_clearing' as const, amount_cents: cents },
              { account: 'sales' as const, amount_cents: -cents },
            ],
          })),
        ),
      )
    await sales(1_010, 3)
    assert.equal(await chainAll(), 1_010)
    await sales(995, 2)
    await chainAll()
    await sell(db, 7)
    const { rows } = await superuser.query(
      `select sequence::int, account, balance_cents::int from ledger_checkpoints
        where tenant_ref = $1 order by sequence, account`,
      [db.tenant],
    )
    assert.deepEqual(
      rows.map(({ sequence, account, balance_cents }) => [sequence, account, balance_cents]),
      [
        [1_000, 'card_clearing', 3_000],
        [1_000, 'sales', -3_000],
        [2_000, 'card_clearing', 5_010],
        [2_000, 'sales', -5_010],
      ],
    )
    const proven = await proofToEnd(db)
    assert.deepEqual(
      proven.trial_balance.map(({ balance_cents }) => balance_cents),
      [5_027, -5_027],
    )
    assert.deepEqual([proven.verified, proven.to, proven.unsealed_count], [true, 2_005, 1])
    for (const from of [1_000, 1_001, 1_500]) {
      assert.equal((await proofToEnd(db, from)).verified, true)
    }
    await assert.rejects(
      superuser.query('update ledger_checkpoints set balance_cents = balance_cents + 1'),
      { code: 'FD002' },
    )
    await superuser.query('begin')
    await superuser.query('set local session_replication_role = replica')
    await superuser.query(
      `update ledger_checkpoints set balance_cents = balance_cents + sign(balance_cents)
        where tenant_ref = $1 and sequence = 2000`,
      [db.tenant],
    )
    await superuser.query('commit')
    // Whole, and in the smallest parts: each of them ends at a checkpoint.
    for (const [afterMs, parts] of [
      [60_000, [null]],
      [0, [null, 1_001]],
    ] as const) {
      const proofs = await Promise.all(
        parts.map((from) => ledger.proof(db, { key, from, afterMs })),
      )
      const forged = proofs.at(-1)
      assert.deepEqual([forged?.verified, forged?.broken_at], [false, 2_000])
      for (const part of proofs.slice(0, -1))
        assert.deepEqual([part.verified, part.next_from], [true, 1_001])
    }
  })

  test('is shown to a key with the scope for analytics', async (t) => {
    const app = await openTestApp(t)
    const acme = await app.merchant('acme', 'manage:own_analytics')
    const db = await app.store('acme')
    await sellMany(db, 2)
    await chainNewJournals(app.runtime.workerDatabase)
    const { status, body } = await acme.get('/v1/merchant/ledger/proof')
    assert.equal(status, 200)
    assert.equal(body.verified, true)
    assert.equal(body.chain_head.sequence, 2)
    assert.match(body.chain_head.hash, /^[0-9a-f]{64}$/)
    const clamped = await acme.get('/v1/merchant/ledger/proof?from=-5')
    assert.deepEqual(clamped.body, body)
    const later = await acme.get('/v1/merchant/ledger/proof?from=2.9')
    assert.deepEqual([later.body.from, later.body.to, later.body.verified], [2, 2, true])
  })
})
