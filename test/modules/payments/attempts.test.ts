import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { TenantDb, Tx } from '../../../src/db/database.ts'
import { resultOfLookup } from '../../../src/modules/payments/adapters/results.ts'
import * as attempts from '../../../src/modules/payments/attempts.ts'
import { LeaseLostError } from '../../../src/platform/leases.ts'
import { begin, CARDS, chargeOf, openPaymentsApp } from './setup.ts'

test('an attempt', async (t) => {
  const app = await openPaymentsApp(t)
  const { superuser } = app
  const worker = app.runtime.workerDatabase
  const { db, gateway } = await app.shop('acme')
  const within = <T>(of: TenantDb, work: (tx: Tx) => Promise<T>) => of.transaction('test', work)
  const close = (id: string, result: Parameters<typeof attempts.closeAttempt>[2]) =>
    within(db, (tx) => attempts.closeAttempt(tx, id, result))
  const get = async (id: string) => {
    const attempt = await attempts.findAttempt(db, id)
    assert.ok(attempt)
    return attempt
  }

  /** In how many seconds the attempt is looked up; null for never. */
  const isAskedIn = async (id: string, seconds: number | null, when = '') => {
    const { rows } = await superuser.query(
      `select extract(epoch from next_check_at - now())::float8 as seconds
         from payment_attempts where id = $1`,
      [id],
    )
    const seen = rows[0].seconds
    if (seconds === null) return assert.equal(seen, null)
    // On a busy machine this reads the row some seconds after it was written.
    const isInTime = seen !== null && seen > seconds - 8 && seen <= seconds
    assert.ok(isInTime, `in ${seen} s, not ${seconds} s ${when}`)
  }

  /** Makes the attempt due, as old as given. */
  const age = (id: string, seconds: number) =>
    superuser.query(
      `update payment_attempts
          set next_check_at = now(), created_at = now() - make_interval(secs => $2),
              closed_at = case when closed_at is not null
                               then now() - make_interval(secs => $2 - 10) end
        where id = $1`,
      [id, seconds],
    )

  const take = async (id: string) => {
    const due = await attempts.lateQueue.claimFairly(worker, { slots: 50 })
    const found = due.find((each) => each.id === id)
    assert.ok(found, 'the attempt is due')
    return found
  }

  await t.test('is open from its begin, and listed with its order', async () => {
    const order_id = randomUUID()
    const id = await begin(db, { order_id })
    const listed = await attempts.listAttempts(db, order_id)
    assert.deepEqual(
      listed.map((each) => [each.id, each.state]),
      [[id, 'begun']],
    )
  })

  await t.test('is closed once, by the first process', async () => {
    const charge = chargeOf(CARDS.approves, { vault: true })
    const id = await begin(db, { id: charge.ref })
    const result = await gateway.sale(charge)
    const wins = await Promise.all([close(id, result), close(id, result), close(id, result)])
    assert.equal(wins.filter(Boolean).length, 1)
    const closed = await get(id)
    assert.deepEqual(
      [closed.state, closed.txn_id, closed.card?.last4, closed.vault_id, closed.code],
      ['approved', result.txn_id, '1111', result.vault_id, '100'],
    )
    assert.ok(closed.closed_at)
    await isAskedIn(id, null)
    assert.equal(await attempts.markUnknown(db, id), false)
    assert.equal(await within(db, (tx) => attempts.markNotFound(tx, id)), false)
    assert.equal((await get(id)).state, 'approved')
  })

  await t.test('stores the reason of a decline', async () => {
    const charge = chargeOf(CARDS.poor)
    const id = await begin(db, { id: charge.ref })
    await close(id, await gateway.sale(charge))
    const { state, reason, code } = await get(id)
    assert.deepEqual([state, reason, code], ['declined', 'insufficient_funds', '202'])
  })

  await t.test(
    'an attempt whose result is unknown stays open, until the gateway shows its record',
    async () => {
      const charge = chargeOf(CARDS.silentAfter)
      const id = await begin(db, { id: charge.ref })
      assert.equal(await close(id, await gateway.sale(charge)), true)
      const { state, closed_at } = await get(id)
      assert.deepEqual([state, closed_at], ['unknown', null])
      const found = resultOfLookup(gateway, await gateway.lookup({ ref: id }))
      assert.equal(await close(id, found), true)
      assert.equal((await get(id)).state, 'approved')
    },
  )

  await t.test(
    'an attempt without a record is looked up after 1, 5 and 30 minutes and then every 30, while the gateway gives no answer',
    async () => {
      const id = await begin(db)
      await within(db, (tx) => attempts.markNotFound(tx, id))
      for (const [old, next] of [
        [10, 50],
        [60, 240],
        [300, 1_500],
        [1_800, 1_800],
        [3_600, 1_800],
        [999_999, 1_800],
      ] as const) {
        await age(id, old)
        await attempts.postponeLookup(db, await take(id))
        await isAskedIn(id, next, `when ${old} s old`)
        assert.equal((await get(id)).state, 'not_found')
      }
      assert.equal((await get(id)).checks, 6)
    },
  )

  await t.test(
    'an attempt that the gateway has no record of is `not_found`, and is watched for five minutes',
    async () => {
      const charge = chargeOf(CARDS.silentBefore)
      const id = await begin(db, { id: charge.ref })
      await close(id, await gateway.sale(charge))
      assert.equal((await gateway.lookup({ ref: id })).found, 'no')
      assert.equal(await within(db, (tx) => attempts.markNotFound(tx, id)), true)
      assert.equal((await get(id)).state, 'not_found')
      await isAskedIn(id, 50)
      const late = await gateway.sale(chargeOf(CARDS.approves))
      assert.equal(await close(id, late), false, 'a late approval does not reopen it')
      await age(id, 60)
      await attempts.postponeLateLookup(db, await take(id))
      await isAskedIn(id, 240)
      await age(id, 300)
      await attempts.postponeLateLookup(db, await take(id))
      await isAskedIn(id, null)
    },
  )

  await t.test('an attempt whose late approval was voided is voided', async () => {
    const id = await begin(db)
    await within(db, (tx) => attempts.markNotFound(tx, id))
    await age(id, 60)
    const due = await take(id)
    const late = await gateway.authorize(chargeOf(CARDS.approves))
    await within(db, async (tx) => {
      await attempts.endLookup(tx, due)
      assert.equal(await attempts.markVoided(tx, id, late), true)
    })
    const { state, txn_id } = await get(id)
    assert.deepEqual([state, txn_id], ['voided', late.txn_id])
    await isAskedIn(id, null)
  })

  await t.test('an attempt that another process has sent stays marked as sent', async () => {
    const id = await begin(db, { isUnsent: true })
    const mark = await attempts.markSent(db, id)
    assert.ok(mark)
    assert.equal(await attempts.markSent(db, id), null, 'one process sends it')
    assert.equal(await attempts.clearSent(db, id, mark), true)
    await superuser.query(
      `update payment_attempts set sent_at = now() + interval '1 hour' where id = $1`,
      [id],
    )
    assert.equal(await attempts.clearSent(db, id, mark), false)
    await within(db, (tx) => attempts.markNotFound(tx, id))
  })

  await t.test('is not written by a process that lost its lease', async () => {
    const id = await begin(db)
    await within(db, (tx) => attempts.markNotFound(tx, id))
    await age(id, 60)
    const lost = await take(id)
    await superuser.query('update payment_attempts set lease_until = now() where id = $1', [id])
    const taken = await take(id)
    await assert.rejects(attempts.postponeLookup(db, lost), LeaseLostError)
    await attempts.postponeLookup(db, taken)
  })

  await t.test('an attempt with a used id is refused', async () => {
    const id = await begin(db)
    await assert.rejects(begin(db, { id }))
  })
})
