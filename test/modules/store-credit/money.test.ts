import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import type { TenantDb, Tx } from '../../../src/db/database.ts'
import * as entitlements from '../../../src/modules/entitlements/service.ts'
import { post } from '../../../src/modules/ledger/money.ts'
import { expireDue } from '../../../src/modules/store-credit/jobs.ts'
import * as money from '../../../src/modules/store-credit/money.ts'
import * as storeCredit from '../../../src/modules/store-credit/service.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import * as idempotency from '../../../src/platform/idempotency.ts'
import { inParallel } from '../../harness/in-parallel.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { openPlatform } from '../../harness/platform.ts'

const CONNECTIONS = 20
const platform = await openPlatform({ after }, CONNECTIONS)
const superuser = await platform.database.openAdmin()

const ANN = 'ann@example.com'
const LATER = '2999-01-01T00:00:00Z'

async function openStore(): Promise<TenantDb> {
  const [tenant = ''] = await platform.addStores(1)
  const db = platform.app.tenant(tenant)
  await entitlements.enable(db, SYSTEM, 'store_credit')
  return db
}

async function newCaller(db: TenantDb): Promise<money.Caller> {
  const request = { operation: 'test', key: randomUUID(), fingerprint: Buffer.alloc(32) }
  const claim = (await idempotency.claim(db, request)) as idempotency.WonClaim
  return { actor: SYSTEM, claim, requireOrder: async () => {} }
}

const credit = (
  db: TenantDb,
  amount_cents: number,
  expires_at: string | null = null,
  customer_ref = ANN,
) =>
  db.transaction('credit', (tx) =>
    money.credit(tx, {
      customer_ref,
      currency: 'USD',
      amount_cents,
      event: 'adjustment',
      expires_at,
      actor: SYSTEM,
      post: true,
    }),
  )

const debit = async (db: TenantDb, amount_cents: number) =>
  money.debit(db, await newCaller(db), ANN, { amount_cents, currency: 'USD', reason: 'test' })

const hold = (db: TenantDb, most_cents: number, order_id: string, customer_ref = ANN) =>
  db.transaction('hold', (tx) =>
    money.holdUpTo(tx, { customer_ref, currency: 'USD', most_cents, order_id }),
  )

/** Posts the part of the order's journal that books the tender. */
const postTender = async (tx: Tx, taken: money.ClosedHold[]) => {
  for (const { account_id, amount_cents } of taken) {
    await post(tx, {
      kind: 'sale',
      currency: 'USD',
      entries: [
        { account: 'store_credit', ref: account_id, amount_cents },
        { account: 'sales', amount_cents: -amount_cents },
      ],
    })
  }
  return taken
}

const capture = (db: TenantDb, order_id: string) =>
  db.transaction('capture', async (tx) => postTender(tx, await money.captureHold(tx, { order_id })))

const release = (db: TenantDb, order_id: string) =>
  db.transaction('void', (tx) => money.releaseHold(tx, { order_id }))

const amounts = async (db: TenantDb) => {
  const [account] = await storeCredit.get(db, ANN)
  return [account?.balance_cents, account?.held_cents]
}

/** Moves the rows a minute back, and expires lots that have an expiry: all, or those of one date. */
async function expireNow({ tenant }: TenantDb, date: string | null = null): Promise<void> {
  await superuser.query(
    `update ledger_holds set created_at = created_at - interval '1 minute' where tenant_ref = $1`,
    [tenant],
  )
  await superuser.query(
    `update store_credit_lots
        set expires_at = least(expires_at - interval '1 minute', now() - interval '1 second'),
            due_at = now()
      where tenant_ref = $1 and (expires_at <= now() or expires_at = coalesce($2, expires_at))`,
    [tenant, date],
  )
}

describe('store credit as a tender', () => {
  test('200 redemptions, twenty at a time, take exactly the balance', async () => {
    const db = await openStore()
    await credit(db, 6_000)
    await credit(db, 4_000, LATER)
    const redeem = async (n: number) => {
      const order = randomUUID()
      const { amount_cents } = await hold(db, 73, order)
      if (n % 5 === 0) return void (await release(db, order))
      await capture(db, order)
      return amount_cents
    }
    const taken = await inParallel(CONNECTIONS, 200, redeem)
    const first = taken.reduce((sum: number, each) => sum + (each ?? 0), 0)
    const rest = await inParallel(CONNECTIONS, 40, () => redeem(1))
    assert.equal(
      rest.reduce((sum: number, each) => sum + (each ?? 0), first),
      10_000,
    )
    assert.deepEqual(await amounts(db), [0, 0])
    await assertOracles(superuser)
  })

  test('store credit that an order gives back keeps its original dates, the longest valid first', async () => {
    const db = await openStore()
    const SOON = '2998-01-01T00:00:00Z'
    await credit(db, 300, SOON)
    await credit(db, 300, LATER)
    await credit(db, 300)
    const order = randomUUID()
    await hold(db, 800, order)
    await capture(db, order)
    const giveBack = (amount_cents: number) =>
      db.transaction('give back', (tx) =>
        money.credit(tx, {
          customer_ref: ANN,
          currency: 'USD',
          amount_cents,
          event: 'refund',
          order_id: order,
          returnedFrom: order,
          actor: SYSTEM,
          post: true,
        }),
      )
    const lots = async () => {
      const { rows } = await superuser.query(
        `select extract(year from expires_at)::int as year, sum(remaining_cents)::int as cents
           from store_credit_lots where tenant_ref = $1 and remaining_cents > 0
          group by 1 order by 1`,
        [db.tenant],
      )
      return Object.fromEntries(rows.map(({ year, cents }) => [year ?? 'never', cents]))
    }
    assert.deepEqual(await lots(), { never: 100 })
    await giveBack(250)
    assert.deepEqual(await lots(), { 2999: 50, never: 300 })
    await giveBack(550)
    assert.deepEqual(await lots(), { 2998: 300, 2999: 300, never: 300 })
    await expireNow(db, SOON)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db), [600, 0])
    await assertOracles(superuser)
  })

  test('releases to the cent the amount that an order did not need', async () => {
    const db = await openStore()
    const { account_id } = await credit(db, 500)
    const order = randomUUID()
    assert.deepEqual(await hold(db, 320, order), { account_id, amount_cents: 320 })
    assert.equal(await storeCredit.available(db, ANN, 'USD'), 180)
    assert.equal((await hold(db, 1_000, randomUUID())).amount_cents, 180)
    assert.equal((await hold(db, 1, randomUUID())).amount_cents, 0)
    assert.deepEqual(await release(db, order), [{ account_id, amount_cents: 320 }])
    assert.deepEqual(await release(db, order), [])
    assert.deepEqual(await capture(db, order), [])
    assert.deepEqual(await amounts(db), [500, 180])
    assert.equal(await storeCredit.available(db, ANN, 'USD'), 320)
  })

  test('is captured once, also with repeated and concurrent calls', async () => {
    const db = await openStore()
    const { account_id } = await credit(db, 500)
    const order = randomUUID()
    await hold(db, 200, order)
    const all = await Promise.all([1, 2, 3, 4].map(() => capture(db, order)))
    assert.deepEqual(all.flat(), [{ account_id, amount_cents: 200 }])
    assert.deepEqual(await release(db, order), [])
    assert.deepEqual(await amounts(db), [300, 0])
    await assertOracles(superuser)
  })

  test('is 0 for a customer without an account, or in another currency', async () => {
    const db = await openStore()
    await credit(db, 500)
    const unknown = await hold(db, 100, randomUUID(), 'nobody')
    assert.deepEqual(unknown, { account_id: null, amount_cents: 0 })
    assert.equal(await storeCredit.available(db, ANN, 'EUR'), 0)
    assert.equal(await storeCredit.available(db, 'nobody', 'USD'), 0)
    assert.equal(await storeCredit.available(await openStore(), ANN, 'USD'), 0)
  })

  test('concurrent first credits of a customer create one account', async () => {
    const db = await openStore()
    await Promise.all(Array.from({ length: 20 }, () => credit(db, 10)))
    assert.equal((await storeCredit.get(db, ANN)).length, 1)
    assert.deepEqual(await amounts(db), [200, 0])
    await assertOracles(superuser)
  })
})

describe('credit that expires', () => {
  test('is spent first, and cannot be spent after its date', async () => {
    const db = await openStore()
    await credit(db, 100)
    await credit(db, 100, LATER)
    const order = randomUUID()
    await hold(db, 60, order)
    await capture(db, order)
    await expireNow(db)
    assert.equal(await storeCredit.available(db, ANN, 'USD'), 100, 'before the loop has been')
    assert.equal((await hold(db, 1_000, randomUUID())).amount_cents, 100)
    assert.deepEqual(await amounts(db), [100, 100], 'it was booked on the way')
    await assertOracles(superuser)
  })

  test('is booked as breakage by the loop', async () => {
    const db = await openStore()
    const { account_id } = await credit(db, 100, LATER)
    await expireNow(db)
    assert.ok((await expireDue(platform.worker)) >= 1)
    assert.equal(await expireDue(platform.worker), 0)
    assert.deepEqual(await amounts(db), [0, 0])
    const { transactions } = await storeCredit.listTransactions(db, ANN, { limit: 1, offset: 0 })
    const [{ type, event, amount_cents, balance_after_cents } = {}] = transactions
    assert.deepEqual(
      [type, event, amount_cents, balance_after_cents],
      ['expire', 'expiration', 100, 0],
    )
    const { rows } = await superuser.query(
      `select e.amount_cents from ledger_entries e
         join ledger_journals j on j.tenant_ref = e.tenant_ref and j.id = e.journal_id
        where j.ref = $1 and j.kind = 'store_credit.expired' and e.account = 'breakage'`,
      [account_id],
    )
    assert.deepEqual(rows, [{ amount_cents: '-100' }])
  })

  test('is booked in every store, also if the ledger of another store is broken', async () => {
    const broken = await openStore()
    // Several, since the order of the stores and accounts is not fixed.
    const sound = await Promise.all(Array.from({ length: 6 }, openStore))
    for (const db of [broken, ...sound]) await credit(db, 100, LATER)
    const setBalance = (cents: number) =>
      superuser.query('update store_credit_accounts set balance_cents = $2 where tenant_ref = $1', [
        broken.tenant,
        cents,
      ])
    await setBalance(1)
    for (const db of [broken, ...sound]) await expireNow(db)
    await assert.rejects(expireDue(platform.worker), /expected one row/)
    for (const db of sound) assert.deepEqual(await amounts(db), [0, 0])
    await setBalance(100)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(broken), [0, 0])
    await assertOracles(superuser)
  })

  test('is booked for every account, also if another account of the store is broken', async () => {
    const db = await openStore()
    const { account_id: broken } = await credit(db, 100, LATER)
    // Several, since the order of the stores and accounts is not fixed.
    const sound = Array.from({ length: 12 }, () => randomUUID())
    for (const each of sound) await credit(db, 100, LATER, each)
    const setBalance = (cents: number) =>
      superuser.query('update store_credit_accounts set balance_cents = $2 where id = $1', [
        broken,
        cents,
      ])
    await setBalance(1)
    await expireNow(db)
    await assert.rejects(expireDue(platform.worker), /expected one row/)
    for (const each of sound) {
      assert.equal((await storeCredit.get(db, each))[0]?.balance_cents, 0)
    }
    await setBalance(100)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db), [0, 0])
    await assertOracles(superuser)
  })

  test('stays reserved for the order that holds it, and expires when it is released', async () => {
    const db = await openStore()
    await credit(db, 100, LATER)
    await credit(db, 100)
    const [kept, freed] = [randomUUID(), randomUUID()]
    await hold(db, 70, kept)
    await hold(db, 20, freed)
    await expireNow(db)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db), [190, 90], 'ten cents of the old lot were free')
    assert.equal(await expireDue(platform.worker), 0, 'what is held does not keep the loop busy')
    await release(db, freed)
    assert.equal(await storeCredit.available(db, ANN, 'USD'), 100)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db), [170, 70])
    await capture(db, kept)
    assert.deepEqual(await amounts(db), [100, 0])
    await assertOracles(superuser)
  })

  test('expiring credit that an order holds does not keep older credit from expiring once it is released', async () => {
    const db = await openStore()
    const sooner = '2998-01-01T00:00:00Z'
    await credit(db, 100, sooner)
    await credit(db, 100, LATER)
    await credit(db, 100)
    const [first, second] = [randomUUID(), randomUUID()]
    await hold(db, 100, first)
    await expireNow(db, sooner)
    await hold(db, 100, second)
    await expireNow(db, LATER)
    await release(db, first)
    assert.equal(await storeCredit.available(db, ANN, 'USD'), 100)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db), [200, 100])
    await capture(db, second)
    assert.equal(await storeCredit.available(db, ANN, 'USD'), 100, 'what never expires is left')
    await expireNow(db)
    await expireDue(platform.worker)
    assert.deepEqual(await amounts(db), [100, 0])
    await assertOracles(superuser)
  })

  for (const what of ['an order', 'a debit']) {
    test(`is not spent by ${what} after its date, although another order held it`, async () => {
      const db = await openStore()
      await credit(db, 100, LATER)
      await credit(db, 100)
      const [sooner, later] = [randomUUID(), randomUUID()]
      await hold(db, 100, sooner)
      await expireNow(db)
      if (what === 'an order') {
        assert.equal((await hold(db, 1_000, later)).amount_cents, 100)
        await capture(db, later)
      } else {
        await debit(db, 100)
      }
      await release(db, sooner)
      assert.equal(await storeCredit.available(db, ANN, 'USD'), 0)
      await expireNow(db)
      await expireDue(platform.worker)
      assert.deepEqual(await amounts(db), [0, 0])
      await assertOracles(superuser)
    })
  }
})

test('after any sequence of operations the balance equals what the ledger owes', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('hold' as const), cents: fc.integer({ min: 1, max: 400 }) }),
    fc.record({ do: fc.constantFrom('settle' as const, 'void' as const), at: fc.nat(5) }),
    fc.record({
      do: fc.constant('credit' as const),
      cents: fc.integer({ min: 1, max: 300 }),
      expires: fc.boolean(),
    }),
    fc.record({ do: fc.constant('debit' as const), cents: fc.integer({ min: 1, max: 300 }) }),
    fc.record({ do: fc.constant('expire' as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const db = await openStore()
      await credit(db, 200, LATER)
      const orders: string[] = []
      for (const each of steps) {
        if (each.do === 'hold') {
          const order = randomUUID()
          orders.push(order)
          const open = await storeCredit.available(db, ANN, 'USD')
          const { amount_cents } = await hold(db, each.cents, order)
          assert.equal(amount_cents, Math.min(open, each.cents))
        } else if (each.do === 'settle') await capture(db, orders[each.at] ?? randomUUID())
        else if (each.do === 'void') await release(db, orders[each.at] ?? randomUUID())
        else if (each.do === 'credit') await credit(db, each.cents, each.expires ? LATER : null)
        else if (each.do === 'debit') {
          const open = await storeCredit.available(db, ANN, 'USD')
          const taking = debit(db, each.cents)
          if (each.cents <= open) await taking
          else
            await assert.rejects(taking, {
              code: 'insufficient_balance',
              body: { available_cents: open },
            })
        } else {
          await expireNow(db)
          await expireDue(platform.worker)
        }
      }
      await assertOracles(superuser)
    }),
    { numRuns: 25 },
  )
})
