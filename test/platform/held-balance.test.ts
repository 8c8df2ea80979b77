import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { TenantDb, Tx } from '../../src/db/database.ts'
import * as storeCredit from '../../src/modules/store-credit/queries.ts'
import { openPlatform } from '../harness/platform.ts'

const platform = await openPlatform({ after })

async function openStore(): Promise<TenantDb> {
  const [tenant = ''] = await platform.addStores(1)
  return platform.app.tenant(tenant)
}

/** Runs the work on a balance of 100 cents, of which 60 are held, and rolls it back. */
async function onBalance(db: TenantDb, work: (tx: Tx, id: string) => Promise<void>) {
  const undone = new Error('undone')
  const done = db.transaction('held balance', async (tx) => {
    await storeCredit.ensureAccount(tx, 'ann', 'USD')
    const account = await storeCredit.lockAccountOf(tx, 'ann', 'USD')
    assert.ok(account)
    await storeCredit.addBalance(tx, account.id, 100)
    await storeCredit.addHeld(tx, account.id, 60)
    await work(tx, account.id)
    throw undone
  })
  await assert.rejects(done, undone)
}

describe('the statements of a balance', async () => {
  const db = await openStore()
  const { addHeld, releaseHeld, captureHeld, addBalance } = storeCredit

  test('hold, release, capture and add, and answer the changed row', () =>
    onBalance(db, async (tx, id) => {
      const amountsOf = async (row: ReturnType<typeof addHeld>) => {
        const { balance_cents, held_cents } = await row
        return [balance_cents, held_cents]
      }
      assert.deepEqual(await amountsOf(addHeld(tx, id, 40)), [100, 100])
      assert.deepEqual(await amountsOf(releaseHeld(tx, id, 30)), [100, 70])
      assert.deepEqual(await amountsOf(captureHeld(tx, id, 70)), [30, 0])
      assert.deepEqual(await amountsOf(addBalance(tx, id, -30)), [0, 0])
    }))

  test('throw and write nothing if the balance is too small', () =>
    onBalance(db, async (tx, id) => {
      const before = await storeCredit.lockAccount(tx, id)
      await assert.rejects(addHeld(tx, id, 41), /expected one row/)
      await assert.rejects(releaseHeld(tx, id, 61), /expected one row/)
      await assert.rejects(captureHeld(tx, id, 61), /expected one row/)
      await assert.rejects(addBalance(tx, id, -41), /expected one row/)
      assert.deepEqual(await storeCredit.lockAccount(tx, id), before)
    }))

  test('touch no row of another store', async () => {
    const other = await openStore()
    const id = await db.transaction('an account', async (tx) => {
      await storeCredit.ensureAccount(tx, 'bob', 'USD')
      return (await storeCredit.lockAccountOf(tx, 'bob', 'USD'))?.id ?? ''
    })
    await other.transaction('another store', async (tx) => {
      assert.equal(await storeCredit.lockAccount(tx, id), null)
      await assert.rejects(addBalance(tx, id, 1), /expected one row/)
    })
    assert.equal((await storeCredit.findAccount(db, 'bob', 'USD'))?.balance_cents, 0)
  })
})
