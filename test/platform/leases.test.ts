import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { TenantDb } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'
import { LeaseLostError } from '../../src/platform/leases.ts'
import { CHORES_TABLE, DONE, type HeldChore, newQueue } from '../harness/chores.ts'
import { until } from '../harness/eventually.ts'
import { openPlatform } from '../harness/platform.ts'

const platform = await openPlatform({ after }, 10)
const { worker, query } = platform
await query(CHORES_TABLE)
const queue = newQueue()

/** Each test begins with an empty queue, because a fair claim looks at all stores. */
async function open(stores = 1) {
  await query('truncate chores')
  return (await platform.addStores(stores)).map((ref) => worker.tenant(ref)) as [
    TenantDb,
    ...TenantDb[],
  ]
}

const add = (db: TenantDb, count: number, secondsAgo = 0) =>
  query(
    `insert into chores (tenant_ref, name, due_at)
     select $1, 'chore ' || i, now() - make_interval(secs => $3)
       from generate_series(1, $2::int) as i`,
    [db.tenant, count, secondsAgo],
  )

const expire = (id: string) =>
  query("update chores set lease_until = now() - interval '1 s' where id = $1", [id])

/** Short enough to wait for, and long enough to be renewed in time on a busy machine. */
const LEASE_SECONDS = 5

/** When the lease of each row ends. */
const listEnds = async () =>
  (await query<{ end: string }>('select lease_until::text as end from chores order by id')).map(
    ({ end }) => end,
  )

const countBy = (rows: readonly HeldChore[]) =>
  Object.fromEntries(
    [...Map.groupBy(rows, (row) => row.tenant_ref)].map(([key, held]) => [key, held.length]),
  )

async function claimOne(db: TenantDb, leaseSeconds?: number): Promise<HeldChore> {
  const [row] = await queue.claim(db, 1, leaseSeconds)
  assert.ok(row)
  return row
}

describe('a claim', () => {
  test('never gives one row to two of 8 claimers at once', async () => {
    const [db] = await open()
    await add(db, 200)
    const drain = async () => {
      const mine: HeldChore[] = []
      for (;;) {
        const rows = await queue.claim(db, 7)
        if (rows.length === 0) return mine
        mine.push(...rows)
      }
    }
    const all = (await Promise.all(Array.from({ length: 8 }, drain))).flat()
    assert.equal(all.length, 200)
    assert.equal(new Set(all.map(({ id }) => id)).size, 200)
  })

  test('takes due and free rows, the longest waiting first', async () => {
    const [db] = await open()
    await add(db, 1, -60)
    await add(db, 2, 10)
    await add(db, 2, 20)
    const ages = await query<{ id: string }>('select id from chores order by due_at limit 2')
    const first = await queue.claim(db, 2)
    assert.deepEqual(first.map(({ id }) => id).toSorted(), ages.map(({ id }) => id).toSorted())
    assert.equal((await queue.claim(db, 10)).length, 2)
    assert.equal((await queue.claim(db, 10)).length, 0)
  })

  test('skips a row that another transaction has locked', async () => {
    const [db] = await open()
    await add(db, 2)
    await db.transaction('slow', async (tx) => {
      const [other] = await query<{ id: string }>('select id from chores order by id limit 1')
      assert.ok(other)
      await tx.run(sql`
        select from chores where tenant_ref = ${db.tenant} and id = ${other.id} for update`)
      assert.equal((await queue.claim(db, 10)).length, 1)
    })
  })

  test('reaches only the rows of its store', async () => {
    const [db, other] = await open(2)
    assert.ok(other)
    await add(other, 3)
    assert.equal((await queue.claim(db, 10)).length, 0)
    const held = await claimOne(other)
    await assert.rejects(queue.finish(db, held, DONE), LeaseLostError)
    assert.equal(await queue.renew(db, held), false)
    await queue.release(db, held)
    await queue.finish(other, held, DONE)
  })
})

describe('a lease', () => {
  test('a lease that is released leaves the row due at once and counts no attempt', async () => {
    const [db] = await open()
    await add(db, 1)
    await queue.release(db, await claimOne(db))
    assert.equal((await claimOne(db)).done_count, 0)
  })

  test('a lease that was lost can write no result', async () => {
    const [db] = await open()
    await add(db, 1)
    const old = await claimOne(db)
    await expire(old.id)
    const now = await claimOne(db)
    assert.equal(await queue.renew(db, old), false)
    await queue.release(db, old)
    await assert.rejects(queue.finish(db, old, DONE), LeaseLostError)
    await queue.finish(db, now, DONE)
    await assert.rejects(queue.finish(db, now, DONE), LeaseLostError)
    const [row] = await query('select done_count, lease_token, lease_until from chores')
    assert.deepEqual(row, { done_count: 1, lease_token: null, lease_until: null })
  })

  test('is renewed as long as the work runs, and no longer', async () => {
    const [db] = await open()
    await add(db, 1)
    const held = await claimOne(db, LEASE_SECONDS)
    const [begun] = await listEnds()
    const takenOver = await queue.runWithLease(
      db,
      held,
      async () => {
        await until('it is renewed', async () => (await listEnds())[0] !== begun)
        return queue.claim(db, 1)
      },
      LEASE_SECONDS,
    )
    assert.deepEqual(takenOver, [])
    await until('the row comes back', async () => (await queue.claim(db, 1)).length === 1)
  })

  test('a lease that is lost aborts the work under it', async () => {
    const [db] = await open()
    await add(db, 1)
    const held = await claimOne(db, 0.3)
    await expire(held.id)
    await claimOne(db)
    const lost = queue.runWithLease(
      db,
      held,
      async (signal) => {
        await once(signal, 'abort', { signal: AbortSignal.timeout(60_000) })
        throw signal.reason
      },
      0.3,
    )
    await assert.rejects(lost, LeaseLostError)
  })

  test('a lease of a killed process expires, and no attempt is counted for its rows', async (t) => {
    const [db] = await open()
    await add(db, 3)
    const script = fileURLToPath(new URL('../harness/chore-holder.ts', import.meta.url))
    const args = [script, platform.database.roleUrl('fd_worker'), db.tenant, String(LEASE_SECONDS)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    const [said] = await once(child.stdout, 'data')
    assert.equal(String(said), '3\n')
    // Its holder runs and renews, so that the rows stay claimed for longer than one lease.
    const begun = await listEnds()
    const isRenewed = async () => (await listEnds()).every((end, i) => end !== begun[i])
    await until('they are renewed', isRenewed)
    assert.deepEqual(await queue.claim(db, 10), [])
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
    const [left] = await query<{ seconds: number }>(
      'select extract(epoch from max(lease_until) - now())::float8 as seconds from chores',
    )
    assert.ok(
      (left?.seconds ?? Number.POSITIVE_INFINITY) <= LEASE_SECONDS,
      'the lease expires by itself',
    )
    const back: HeldChore[] = []
    await until('the rows come back', async () => {
      back.push(...(await queue.claim(db, 10)))
      return back.length === 3
    })
    assert.ok(back.every(({ done_count }) => done_count === 0))
  })
})

describe('a fair claim', () => {
  test('serves a store with one row beside a store with 10,000', async () => {
    const [big, small] = await open(2)
    assert.ok(small)
    await add(big, 10_000, 60)
    await add(small, 1)
    assert.deepEqual(
      (await queue.next(worker.due, 10)).map((store) => store.tenant_ref).toSorted(),
      [big.tenant, small.tenant].toSorted(),
    )
    const rows = await queue.claimFairly(worker, { slots: 10 })
    assert.deepEqual(countBy(rows), { [big.tenant]: 9, [small.tenant]: 1 })
  })

  test('serves every store within one round, however few slots there are', async () => {
    const stores = await open(12)
    for (const db of stores.slice(0, 11)) await add(db, 50, 60)
    const last = stores[11]
    assert.ok(last)
    await add(last, 1)
    const served = new Set<string>()
    for (let take = 0; take < 4; take++) {
      const rows = await queue.claimFairly(worker, { slots: 3 })
      assert.equal(rows.length, 3)
      for (const row of rows) {
        served.add(row.tenant_ref)
        await queue.finish(worker.tenant(row.tenant_ref), row, DONE)
      }
    }
    assert.equal(served.size, 12)
  })

  test('splits its slots evenly, and gives the unused ones to other stores', async () => {
    const [a, b, c] = await open(3)
    assert.ok(b && c)
    await add(a, 100, 60)
    await add(b, 100)
    await add(c, 2)
    const rows = await queue.claimFairly(worker, { slots: 12 })
    assert.deepEqual(countBy(rows), { [a.tenant]: 5, [b.tenant]: 5, [c.tenant]: 2 })
  })

  test('claims no more rows of a store than allowed, its running work included', async () => {
    const [a, b] = await open(2)
    assert.ok(b)
    await add(a, 20)
    await add(b, 20)
    const busy = new Map([[a.tenant, 2]])
    const rows = await queue.claimFairly(worker, { slots: 20, perTenant: 3, busy })
    assert.deepEqual(countBy(rows), { [a.tenant]: 1, [b.tenant]: 3 })
  })

  test('lists no store whose due rows are all leased', async () => {
    const [a, b] = await open(2)
    assert.ok(b)
    await add(a, 2, 60)
    await add(b, 1)
    await queue.claim(a, 10)
    assert.deepEqual(await queue.next(worker.due, 10), [{ tenant_ref: b.tenant }])
  })
})
