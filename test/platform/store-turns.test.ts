import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createRowTurns, createTurns } from '../../src/platform/store-turns.ts'
import { CHORES_TABLE, DONE, type HeldChore, newQueue } from '../harness/chores.ts'
import { countPages } from '../harness/pages.ts'
import { openPlatform } from '../harness/platform.ts'

const platform = await openPlatform({ after }, 10)
const { worker, query } = platform
await query(CHORES_TABLE)
const refs = await platform.addStores(2_000)
const counter = await countPages({ after }, platform.database, 'fd_worker')

beforeEach(async () => {
  await query('truncate chores')
  Object.assign(counter.counted, { statements: 0, pages: 0 })
})

/** Adds rows to each of these stores, due since a minute or in a minute. */
const add = (stores: readonly string[], each: number, isDue = true) =>
  query(
    `insert into chores (tenant_ref, name, due_at)
     select ref, 'chore ' || i, now() + make_interval(secs => $3)
       from unnest($1::text[]) as ref, generate_series(1, $2::int) as i`,
    [stores, each, isDue ? -60 : 60],
  )

const analyze = () => query('analyze chores')

const newTurns = () =>
  createTurns({
    table: sql`chores`,
    due: sql`due_at`,
    free: sql`(lease_until is null or lease_until <= now())`,
  })

const finish = (rows: readonly HeldChore[]) =>
  Promise.all(rows.map((row) => newQueue().finish(worker.tenant(row.tenant_ref), row, DONE)))

const [first = '', second = '', third = ''] = refs

describe('the turns of the stores', () => {
  test('serve a store with one row within two claims, beside 1,000 rows and 1,900 idle stores', async () => {
    await add([first], 1_000)
    await add(refs.slice(100), 1, false)
    await add([third], 1)
    const queue = newQueue()
    const served: string[] = []
    for (let claim = 0; claim < 2; claim++) {
      const rows = await queue.claimFairly(worker, { slots: 10 })
      assert.equal(rows.length, 10, 'no slot stays empty while there is work')
      served.push(...rows.map((row) => row.tenant_ref))
      await finish(rows)
    }
    assert.ok(served.includes(third))
  })

  test('give each of 120 stores one row before any store gets its second', async () => {
    await add(refs.slice(0, 120), 3)
    const queue = newQueue()
    const served: string[] = []
    while (served.length < 120) {
      const rows = await queue.claimFairly(worker, { slots: 20 })
      served.push(...rows.map((row) => row.tenant_ref))
      await finish(rows)
    }
    assert.equal(served.length, 120)
    assert.equal(new Set(served).size, 120)
  })

  test('reach every store once when 3 workers drain 250 stores together', async () => {
    await add(refs.slice(0, 250), 1)
    const drain = async () => {
      const queue = newQueue()
      const mine: HeldChore[] = []
      for (;;) {
        const rows = await queue.claimFairly(worker, { slots: 20 })
        if (rows.length === 0) return mine
        mine.push(...rows)
      }
    }
    const all = (await Promise.all([drain(), drain(), drain()])).flat()
    assert.equal(new Set(all.map(({ id }) => id)).size, 250)
    assert.equal(all.length, 250)
  })

  test('skip stores that can take no more, and find the stores behind them', async () => {
    await add([first, second], 300)
    await add([third], 1)
    const busy = new Map([
      [first, 5],
      [second, 5],
    ])
    const rows = await newQueue().claimFairly(worker, { slots: 10, perTenant: 5, busy })
    assert.deepEqual(
      rows.map((row) => row.tenant_ref),
      [third],
    )
  })

  test('cost as many pages with 2,000 stores as with 20', async () => {
    const measure = async (stores: number) => {
      await query('truncate chores')
      await add(refs.slice(0, stores), 4_000 / stores)
      await analyze()
      const turns = newTurns()
      await turns.next(counter.db, 20)
      Object.assign(counter.counted, { statements: 0, pages: 0 })
      assert.equal((await turns.next(counter.db, 20)).length, 20)
      return { ...counter.counted }
    }
    const few = await measure(20)
    const many = await measure(2_000)
    assert.ok(many.pages <= 2 * few.pages, `${many.pages} pages, against ${few.pages}`)
    assert.ok(many.statements <= 2, `${many.statements} statements`)
  })

  test('cost a few pages while nothing is due, however many stores wait', async () => {
    await add(refs, 2, false)
    await analyze()
    assert.deepEqual(await newTurns().next(counter.db, 20), [])
    assert.equal(counter.counted.statements, 1)
    assert.ok(counter.counted.pages <= 10, `${counter.counted.pages} pages`)
  })

  test('rest after a round that found nothing, so that it is not repeated at once', async () => {
    await add([first], 500)
    await add(refs.slice(1), 1, false)
    const turns = newTurns()
    assert.deepEqual(await turns.next(counter.db, 20, [first]), [])
    const { statements } = counter.counted
    assert.deepEqual(await turns.next(counter.db, 20, [first]), [])
    assert.equal(counter.counted.statements, statements + 1)
  })
})

test('the turns over a table begin again after the last store, and name each store once', async () => {
  await add(refs.slice(0, 25), 10)
  const turns = createRowTurns({ table: sql`chores`, only: sql`due_at is not null` })
  const rounds = [[], [], []] as string[][]
  for (const round of rounds) {
    for (let step = 0; step < 3; step++) {
      for (const store of await turns.next(worker.due, 10)) round.push(store.tenant_ref)
    }
    assert.deepEqual(round.toSorted(), refs.slice(0, 25).toSorted())
  }
  await query('truncate chores')
  assert.deepEqual(await turns.next(worker.due, 10), [])
})
