import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../../../src/kernel/time.ts'
import * as attempts from '../../../src/modules/payments/attempts.ts'
import { compareDay } from '../../../src/modules/payments/compare.ts'
import { reversePayment } from '../../../src/modules/payments/gateway.ts'
import { createComparison } from '../../../src/modules/payments/jobs.ts'
import { startNmi } from '../../harness/nmi.ts'
import { begin, CARDS, chargeOf, openPaymentsApp, type Shop } from './setup.ts'

const URL = '/v1/merchant/payments/discrepancies'
const KEY = 'the-security-key-of-every-store!'

interface Row {
  problem: string
  ref: string
  our_cents: number | null
  gateway_cents: number | null
  resolved_at: string | null
  order_id: string | null
}

test('the comparison of a day', async (t) => {
  // It must not run across midnight (UTC): shortly before it, it waits for the next day.
  const leftMs = DAY_MS - (Date.now() % DAY_MS)
  if (leftMs < 180_000) await sleep(leftMs + 100)
  const TODAY = new Date().toISOString().slice(0, 10)

  const nmi = await startNmi(KEY)
  t.after(() => nmi.close())
  const app = await openPaymentsApp(t, { NMI_URL: nmi.url, NMI_SECURITY_KEY: KEY })
  const { runtime, superuser } = app
  const worker = runtime.workerDatabase
  let count = 0
  const open = () => app.shop(`shop-${++count}`)

  const openNmi = async (tenant: string) => {
    await app.store(tenant)
    await app.operator.put(`/v1/stores/${tenant}/payments`, { gateway: 'nmi' })
    return app.shop(tenant)
  }

  const compare = (shop: Shop) => compareDay(runtime.payments, worker.tenant(shop.tenant), TODAY)
  const list = async (shop: Shop, query = ''): Promise<Row[]> => {
    const merchant = await app.merchant(shop.tenant, 'read:own_orders')
    const { status, body, text } = await merchant.get(`${URL}${query}`)
    assert.equal(status, 200, text)
    return body.discrepancies
  }

  /** The loop's step at a time of tomorrow, so that the time of today does not matter. */
  const comparisonAt = (time: string) => {
    const at = Date.parse(`${TODAY}T${time}:00Z`) + DAY_MS
    const clock = { now: () => at }
    return createComparison({ database: worker, payments: runtime.payments, clock })
  }
  const stepAt = async (time: string) => {
    const step = comparisonAt(time)
    while ((await step()) > 0);
  }

  /** A payment that both sides have. */
  const pay = async ({ db, gateway }: Shop, more: { amount_cents?: number } = {}) => {
    const charge = chargeOf(CARDS.approves, more)
    const { ref: id, order_id, amount_cents } = charge
    await begin(db, { id, order_id, amount_cents, gateway: gateway.name })
    const result = await gateway.sale(charge)
    assert.equal(result.outcome, 'approved')
    await db.transaction('test', (tx) => attempts.closeAttempt(tx, id, result))
    return { charge, txn_id: result.txn_id ?? '' }
  }

  await t.test('finds nothing if both records agree', async () => {
    const shop = await open()
    const { db, gateway } = shop
    const { txn_id } = await pay(shop)
    await gateway.sale(chargeOf(CARDS.declines))
    const declined = chargeOf(CARDS.poor)
    await begin(db, { id: declined.ref })
    const result = await gateway.sale(declined)
    await db.transaction('test', (tx) => attempts.closeAttempt(tx, declined.ref, result))
    const refund = await begin(db, { kind: 'refund', amount_cents: 234, parent_txn_id: txn_id })
    const refunded = await gateway.refund({
      ref: refund,
      txn_id,
      amount_cents: 234,
      currency: 'USD',
    })
    await db.transaction('test', (tx) => attempts.closeAttempt(tx, refund, refunded))
    const open5126 = chargeOf(CARDS.silentAfter)
    await begin(db, { id: open5126.ref })
    await gateway.sale(open5126)
    assert.equal(await compare(shop), 0, 'an open attempt is no problem yet')
    assert.deepEqual(await list(shop, '?status=all'), [])
  })

  await t.test('finds what is missing on either side, and different amounts', async () => {
    const shop = await open()
    const stranger = chargeOf(CARDS.approves)
    await shop.gateway.sale(stranger)
    const failed = chargeOf(CARDS.approves, { amount_cents: 500 })
    await begin(shop.db, { id: failed.ref, order_id: failed.order_id, amount_cents: 500 })
    await shop.gateway.sale(failed)
    await shop.db.transaction('test', (tx) => attempts.markNotFound(tx, failed.ref))
    const differing = await pay(shop)
    await superuser.query('update payment_attempts set amount_cents = 1000 where id = $1', [
      differing.charge.ref,
    ])
    const ghost = await begin(shop.db)
    const result = await shop.gateway.sale(chargeOf(CARDS.declines))
    await shop.db.transaction('test', (tx) =>
      attempts.closeAttempt(tx, ghost, { ...result, outcome: 'approved', txn_id: randomUUID() }),
    )
    const undone = await pay(shop)
    await shop.gateway.void({ txn_id: undone.txn_id })

    assert.equal(await compare(shop), 5)
    const rows = await list(shop)
    const seen = Object.fromEntries(
      rows.map((row) => [row.ref, [row.problem, row.our_cents, row.gateway_cents]]),
    )
    assert.deepEqual(seen, {
      [stranger.ref]: ['missing_here', null, 1_234],
      [failed.ref]: ['missing_here', null, 500],
      [differing.charge.ref]: ['amount_differs', 1_000, 1_234],
      [ghost]: ['missing_there', 1_234, null],
      [undone.charge.ref]: ['missing_there', 1_234, null],
    })
    const orders = new Map(rows.map((row) => [row.ref, row.order_id]))
    assert.equal(orders.get(failed.ref), failed.order_id)
    assert.equal(orders.get(stranger.ref), null)
    assert.equal(await compare(shop), 5, 'a repeated comparison finds the same')
    assert.equal((await list(shop, '?status=all')).length, 5)
  })

  await t.test("accepts the platform's own voids, and releases that captured less", async () => {
    const shop = await open()
    const { db, gateway } = shop
    const voided = await pay(shop)
    await gateway.void({ txn_id: voided.txn_id })
    const id = await begin(db, { kind: 'void', parent_txn_id: voided.txn_id })
    const held = chargeOf(CARDS.approves)
    await begin(db, { id: held.ref })
    const auth = await gateway.authorize(held)
    const release = await begin(db, {
      kind: 'release',
      amount_cents: 1_000,
      parent_txn_id: auth.txn_id,
    })
    const captured = await gateway.capture({
      ref: release,
      txn_id: auth.txn_id ?? '',
      amount_cents: 1_000,
      currency: 'USD',
    })
    await db.transaction('test', async (tx) => {
      await attempts.closeAttempt(tx, id, captured)
      await attempts.closeAttempt(tx, held.ref, auth)
      await attempts.closeAttempt(tx, release, captured)
    })
    const late = await pay(shop)
    await gateway.void({ txn_id: late.txn_id })
    await db.transaction('test', (tx) => attempts.markVoided(tx, late.charge.ref))
    assert.equal(await compare(shop), 0)
  })

  await t.test('accepts a late charge that was settled and therefore refunded', async () => {
    const shop = await open()
    const { charge, txn_id } = await pay(shop)
    await superuser.query(
      `update sim_charges set captured_at = now() - interval '2 days' where txn_id = $1`,
      [txn_id],
    )
    const { ref, amount_cents, currency } = charge
    const back = await reversePayment(shop.gateway, { ref, txn_id, amount_cents, currency })
    assert.equal(back.outcome, 'approved')
    for (const state of ['voided', 'error', 'declined']) {
      const set = 'update payment_attempts set state = $2 where id = $1'
      await superuser.query(set, [ref, state])
      assert.equal(await compare(shop), 0, state)
    }
    assert.deepEqual(await list(shop, '?status=all'), [])
    await superuser.query('update sim_charges set refunded_cents = 1 where txn_id = $1', [txn_id])
    assert.equal(await compare(shop), 2, 'which it was not')
  })

  await t.test(
    'finds a charge that is missing at the gateway, even if it was refunded in part',
    async () => {
      const shop = await open()
      const { charge, txn_id } = await pay(shop)
      const part = { amount_cents: 234, currency: 'USD' }
      const ref = await begin(shop.db, { kind: 'refund', parent_txn_id: txn_id, amount_cents: 234 })
      const refunded = await shop.gateway.refund({ ref, txn_id, ...part })
      await shop.db.transaction('test', (tx) => attempts.closeAttempt(tx, ref, refunded))
      assert.equal(await compare(shop), 0)
      await superuser.query('update sim_charges set voided_at = now() where txn_id = $1', [txn_id])
      assert.equal(await compare(shop), 1)
      const [row] = await list(shop)
      assert.deepEqual([row?.ref, row?.problem], [charge.ref, 'missing_there'])
    },
  )

  await t.test(
    'finds payments that have been unknown for hours, even if the gateway gives no answer',
    async () => {
      const shop = await openNmi('unknown')
      const ref = await begin(shop.db, { gateway: 'nmi' })
      const { rows } = await superuser.query(
        `update payment_attempts set created_at = now() - interval '3 hours' where id = $1
       returning created_at`,
        [ref],
      )
      const day = rows[0].created_at.toISOString().slice(0, 10)
      const look = () => compareDay(runtime.payments, worker.tenant(shop.tenant), day)
      nmi.failNext('html_502')
      assert.equal(await look(), null)
      const seen = (await list(shop)).map((row) => [row.problem, row.ref, row.our_cents])
      assert.deepEqual(seen, [['outcome_unknown', ref, 1_234]])
      assert.equal(await look(), 1)
      await shop.db.transaction('test', (tx) => attempts.markNotFound(tx, ref))
      assert.equal(await look(), 0)
      assert.deepEqual(await list(shop), [])
    },
  )

  await t.test(
    'resolves a difference that has gone, and opens it again when it returns',
    async () => {
      const shop = await open()
      const stranger = chargeOf(CARDS.approves)
      const { txn_id } = await shop.gateway.sale(stranger)
      assert.equal(await compare(shop), 1)
      const insert = `insert into payment_attempts (tenant_ref, id, order_id, kind, gateway, amount_cents,
                                                  currency, state, txn_id, closed_at, next_check_at)
                    values ($1, $2, $3, 'checkout', 'simulated', 1234, 'USD', 'approved', $4, now(), null)`
      await superuser.query(insert, [shop.tenant, stranger.ref, stranger.order_id, txn_id])
      assert.equal(await compare(shop), 0)
      assert.deepEqual(await list(shop), [])
      const [healed] = await list(shop, '?status=all')
      assert.ok(healed?.resolved_at)
      await superuser.query('delete from payment_attempts where id = $1', [stranger.ref])
      assert.equal(await compare(shop), 1)
      const [again, ...more] = await list(shop, '?status=all')
      assert.deepEqual([again?.resolved_at, more.length], [null, 0])
    },
  )

  await t.test("compares NMI's own record with ours", async () => {
    const shop = await openNmi('by-nmi')
    assert.equal(shop.gateway.name, 'nmi')
    await pay(shop)
    const stranger = chargeOf('4242424242424242', { amount_cents: 777 })
    await shop.gateway.sale(stranger)
    const ghost = await pay(shop, { amount_cents: 888 })
    nmi.journal.splice(
      nmi.journal.findIndex((each) => each.id === ghost.txn_id),
      1,
    )
    assert.equal(await compare(shop), 2)
    const rows = await list(shop)
    const seen = Object.fromEntries(rows.map((row) => [row.ref, row.problem]))
    assert.deepEqual(seen, { [stranger.ref]: 'missing_here', [ghost.charge.ref]: 'missing_there' })
    const later = new Date(Date.now() + 2 * DAY_MS).toISOString().replace(/\D/g, '').slice(0, 14)
    for (const { actions } of nmi.journal) {
      actions.push({ type: 'settle', amount: '0', success: 1, code: '100', date: later })
    }
    assert.equal(await compare(shop), 2, 'a later settlement does not change the day')
    assert.deepEqual(new Set((await list(shop)).map((row) => row.ref)), new Set(Object.keys(seen)))
    nmi.failNext('html_502')
    assert.equal(await compare(shop), null, 'a gateway that cannot be asked proves nothing')
    assert.equal((await list(shop)).length, 2)
  })

  await t.test('runs once a night, and again while differences are open', async () => {
    const shop = await open()
    await pay(shop)
    const stranger = chargeOf(CARDS.approves)
    await shop.gateway.sale(stranger)
    const days = async () => {
      const { rows } = await superuser.query(
        `select day::text, compared_at is not null as compared, lease_token,
                round(extract(epoch from due_at - now()) / 3600)::int as hours
           from payment_days where tenant_ref = $1 order by day`,
        [shop.tenant],
      )
      return rows
    }
    await stepAt('01:59')
    assert.deepEqual(await days(), [], 'the day is young')
    await Promise.all([stepAt('02:00'), stepAt('02:00')])
    const expected = { day: TODAY, compared: true, lease_token: null }
    assert.deepEqual(await days(), [{ ...expected, hours: 24 }])
    assert.equal((await list(shop)).length, 1)
    await superuser.query(`update sim_charges set voided_at = now() where ref = $1`, [stranger.ref])
    await superuser.query('update payment_days set due_at = now() where due_at is not null')
    await stepAt('03:00')
    assert.deepEqual(await days(), [{ ...expected, hours: null }])
    assert.deepEqual(await list(shop), [])
    assert.equal(await comparisonAt('03:00')(AbortSignal.abort()), 0)
  })

  await t.test('is postponed by an hour if the gateway gives no answer', async () => {
    nmi.failNext('html_502')
    await superuser.query(
      `update payment_days set due_at = case when day = $1 then now() end where tenant_ref = 'by-nmi'`,
      [TODAY],
    )
    await stepAt('03:00')
    const { rows } = await superuser.query(
      `select round(extract(epoch from due_at - now()) / 60)::int as minutes
         from payment_days where tenant_ref = 'by-nmi' and day = $1`,
      [TODAY],
    )
    assert.deepEqual(rows, [{ minutes: 60 }])
  })

  await t.test('ends after a month, except for unknown payments', async () => {
    const shop = await openNmi('gone')
    await stepAt('03:00')
    const daysAgo = (days: number) =>
      new Date(Date.parse(TODAY) - days * DAY_MS).toISOString().slice(0, 10)
    const [young, old, open] = [daysAgo(29), daysAgo(30), daysAgo(45)]
    const ref = await begin(shop.db, { gateway: 'nmi' })
    const at = `${open}T12:00:00Z`
    await superuser.query('update payment_attempts set created_at = $2 where id = $1', [ref, at])
    const look = async ({ away = false } = {}) => {
      await superuser.query(
        `insert into payment_days (tenant_ref, day, due_at)
         select 'gone', unnest($1::date[]), now()
             on conflict (tenant_ref, day) do update set due_at = now()
          where payment_days.due_at is not null`,
        [[young, old, open]],
      )
      if (away) for (let n = 0; n < 3; n++) nmi.failNext('html_502')
      await stepAt('03:00')
      const { rows } = await superuser.query(
        `select day::text, round(extract(epoch from due_at - now()) / 3600)::int as hours
           from payment_days where tenant_ref = 'gone' and day = any($1) order by day desc`,
        [[young, old, open]],
      )
      return rows.map(({ hours }) => hours)
    }
    assert.deepEqual(await look({ away: true }), [1, null, 24])
    assert.deepEqual(await look(), [null, null, 24])
    assert.deepEqual(
      (await list(shop)).map((row) => row.ref),
      [ref],
    )
    await shop.db.transaction('test', (tx) => attempts.markNotFound(tx, ref))
    assert.deepEqual(await look(), [null, null, null])
    assert.deepEqual(await list(shop), [], 'it is known by now')
  })

  await t.test('catches up with the days of the last month', async () => {
    const shop = await open()
    const days = [1, 8, 30, 31]
    for (const ago of days) {
      const { charge } = await pay(shop)
      for (const [table, id] of [
        ['payment_attempts', 'id'],
        ['sim_charges', 'ref'],
      ]) {
        await superuser.query(
          `update ${table} set created_at = $2::date - $3::int + interval '12 hours' where ${id} = $1`,
          [charge.ref, TODAY, ago - 1],
        )
      }
    }
    await stepAt('03:00')
    const { rows } = await superuser.query(
      `select $2::date - day + 1 as ago, compared_at is not null as compared
         from payment_days where tenant_ref = $1 order by day desc`,
      [shop.tenant, TODAY],
    )
    assert.deepEqual(
      rows.map(({ ago, compared }) => [ago, compared]),
      days.slice(0, -1).map((ago) => [ago, true]),
    )
    assert.deepEqual(await list(shop), [])
  })
})
