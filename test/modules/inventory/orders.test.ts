import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type pg from 'pg'
import type { TenantDb } from '../../../src/db/database.ts'
import * as orderStock from '../../../src/modules/inventory/order-stock.ts'
import type { StockLine } from '../../../src/modules/inventory/schema.ts'
import { times } from '../../harness/refusals.ts'
import { assertStockAddsUp } from '../../harness/stock-oracles.ts'
import { countersOf, openStock, putStock, putTracked, putVariant } from './setup.ts'

const reserve = (db: TenantDb, order: string, lines: StockLine[]) =>
  db.transaction('reserve', (tx) => orderStock.reserve(tx, order, lines))
const allocate = (db: TenantDb, order: string) =>
  db.transaction('allocate', (tx) => orderStock.allocate(tx, order))
const release = (db: TenantDb, order: string) =>
  db.transaction('release', (tx) => orderStock.release(tx, order))
const reserveMore = (db: TenantDb, order: string, lines: StockLine[], change_id?: string) =>
  db.transaction('more', (tx) =>
    orderStock.reserveMore(tx, order, lines, change_id ?? randomUUID()),
  )
const releaseReserved = (db: TenantDb, order: string) =>
  db.transaction('release reserved', (tx) => orderStock.releaseReserved(tx, order))
const releaseExcess = (db: TenantDb, order: string, lines: StockLine[]) =>
  db.transaction('release excess', (tx) => orderStock.releaseExcess(tx, order, lines))

const line = (variant_id: string, quantity: number): StockLine => ({ variant_id, quantity })
const countFulfilled = (results: PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length

test('the stock of an order', async (t) => {
  const { db, superuser } = await openStock(t)

  await t.test(
    'is reserved, allocated and released, and a repeated step changes nothing',
    async () => {
      const variant = await putTracked(superuser, { on_hand: 10 })
      const [order, other] = [randomUUID(), randomUUID()]
      const lines = [line(variant, 2), line(variant, 1)]
      for (let n = 0; n < 2; n++) {
        await reserve(db, order, lines)
        assert.deepEqual(await countersOf(superuser, variant), { default: [10, 0, 3] })
      }
      for (let n = 0; n < 2; n++) {
        await allocate(db, order)
        assert.deepEqual(await countersOf(superuser, variant), { default: [10, 3, 0] })
      }
      await reserve(db, order, lines)
      await reserve(db, other, [line(variant, 7)])
      for (let n = 0; n < 2; n++) {
        await release(db, order)
        assert.deepEqual(await countersOf(superuser, variant), { default: [10, 0, 7] })
      }
      await release(db, other)
      await allocate(db, other)
      assert.deepEqual(await countersOf(superuser, variant), { default: [10, 0, 0] })
      await assert.rejects(reserve(db, other, [line(variant, 1)]), /was given back/)
      await assertStockAddsUp(superuser)
      const { rows } = await superuser.query(
        `select kind, quantity::int, on_hand_after::int, allocated_after::int, actor, order_id
         from inventory_movements where kind <> 'received' and variant_id = $1 order by seq`,
        [variant],
      )
      const common = { on_hand_after: 10, actor: 'system', order_id: order }
      assert.deepEqual(rows, [
        { kind: 'allocated', quantity: 3, allocated_after: 3, ...common },
        { kind: 'released', quantity: -3, allocated_after: 0, ...common },
      ])
    },
  )

  await t.test(
    'is refused as a whole, naming each variant that is short and the units left',
    async () => {
      const plenty = await putTracked(superuser, { on_hand: 10 })
      const scarce = await putTracked(superuser, { on_hand: 2 })
      const none = await putTracked(superuser)
      const order = randomUUID()
      const lines = [line(plenty, 1), line(scarce, 2), line(scarce, 1), line(none, 1)]
      const items = [
        { variant_id: scarce, available: 2 },
        { variant_id: none, available: 0 },
      ].sort((a, b) => (a.variant_id < b.variant_id ? -1 : 1))
      await assert.rejects(reserve(db, order, lines), {
        code: 'insufficient_stock',
        status: 409,
        body: { items },
      })
      assert.deepEqual(await countersOf(superuser, plenty), { default: [10, 0, 0] })
      await reserve(db, order, [line(plenty, 1), line(scarce, 2)])
      await assertStockAddsUp(superuser)
    },
  )

  await t.test('costs one statement and no lock for variants that are not tracked', async () => {
    const unknown = await putVariant(superuser)
    const untracked = await putTracked(superuser, { on_hand: 1, track: false })
    const order = randomUUID()
    await db.transaction('reserve', async (tx) => {
      let statements = 0
      const counting = new Proxy(tx, {
        get(target, name) {
          const value = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => {
            statements++
            return value.apply(target, args)
          }
        },
      })
      await orderStock.reserve(counting, order, [line(unknown, 5), line(untracked, 5)])
      assert.equal(statements, 1)
      const free = 'select from inventory_levels where variant_id = $1 for update nowait'
      assert.equal((await superuser.query(free, [untracked])).rowCount, 1)
    })
    assert.deepEqual(await allocate(db, order), { low: [] })
    await release(db, order)
    assert.deepEqual(await countersOf(superuser, untracked), { default: [1, 0, 0] })
  })

  await t.test('may exceed the units on hand where backorders are allowed', async () => {
    const variant = await putTracked(superuser, { on_hand: 1, allow_backorder: true })
    const order = randomUUID()
    await reserve(db, order, [line(variant, 5)])
    assert.deepEqual(await countersOf(superuser, variant), { default: [1, 0, 5] })
    await allocate(db, order)
    assert.deepEqual(await countersOf(superuser, variant), { default: [1, 5, 0] })
    await assertStockAddsUp(superuser)
  })

  await t.test('comes from one location if one has all units, else from several', async () => {
    const variant = await putTracked(superuser, { on_hand: 3 })
    await putStock(superuser, variant, 5, 'east')
    const [whole, split] = [randomUUID(), randomUUID()]
    await reserve(db, whole, [line(variant, 4)])
    assert.deepEqual(await countersOf(superuser, variant), { default: [3, 0, 0], east: [5, 0, 4] })
    await reserve(db, split, [line(variant, 4)])
    assert.deepEqual(await countersOf(superuser, variant), { default: [3, 0, 3], east: [5, 0, 5] })
    await release(db, split)
    assert.deepEqual(await countersOf(superuser, variant), { default: [3, 0, 0], east: [5, 0, 4] })
    await assertStockAddsUp(superuser)
  })

  await t.test('reports once that a variant has reached its threshold', async () => {
    const variant = await putTracked(superuser, { on_hand: 10, threshold: 4 })
    const silent = await putTracked(superuser, { on_hand: 10 })
    const lows: unknown[] = []
    for (const quantity of [5, 2, 1]) {
      const order = randomUUID()
      await reserve(db, order, [line(variant, quantity), line(silent, quantity)])
      lows.push((await allocate(db, order)).low)
    }
    const low = { variant_id: variant, remaining: 3, low_stock_threshold: 4 }
    assert.deepEqual(lows, [[], [low], []])
  })
})

test('the stock of an order that is edited', async (t) => {
  const { db, superuser } = await openStock(t)

  await t.test(
    'is reserved and released by the edit, and a repeated step changes nothing',
    async () => {
      const [more, less, fresh] = [
        await putTracked(superuser, { on_hand: 5 }),
        await putTracked(superuser, { on_hand: 5 }),
        await putTracked(superuser, { on_hand: 5 }),
      ]
      const order = randomUUID()
      await reserve(db, order, [line(more, 1), line(less, 4)])
      await allocate(db, order)
      const change_id = randomUUID()
      for (let n = 0; n < 2; n++) {
        await reserveMore(db, order, [line(more, 2), line(fresh, 1)], change_id)
        assert.deepEqual(await countersOf(superuser, more), { default: [5, 1, 2] })
        assert.deepEqual(await countersOf(superuser, fresh), { default: [5, 0, 1] })
      }
      await allocate(db, order)
      for (let n = 0; n < 2; n++) {
        await releaseExcess(db, order, [line(less, 1)])
        assert.deepEqual(await countersOf(superuser, more), { default: [5, 3, 0] })
        assert.deepEqual(await countersOf(superuser, less), { default: [5, 1, 0] })
        assert.deepEqual(await countersOf(superuser, fresh), { default: [5, 1, 0] })
      }
      await assert.rejects(reserveMore(db, order, [line(more, 3)]), { code: 'insufficient_stock' })
      await release(db, order)
      assert.deepEqual(await countersOf(superuser, more), { default: [5, 0, 0] })
      await assert.rejects(reserveMore(db, order, [line(more, 1)]), /was given back/)
      await assertStockAddsUp(superuser)
    },
  )

  await t.test('is as before at each location, without a movement, if the edit fails', async () => {
    const variant = await putTracked(superuser, { on_hand: 3 })
    await putStock(superuser, variant, 5, 'east')
    const order = randomUUID()
    await reserve(db, order, [line(variant, 3)])
    await allocate(db, order)
    await reserveMore(db, order, [line(variant, 2)])
    assert.deepEqual(await countersOf(superuser, variant), { default: [3, 3, 0], east: [5, 0, 2] })
    for (let n = 0; n < 2; n++) {
      await releaseReserved(db, order)
      assert.deepEqual(await countersOf(superuser, variant), {
        default: [3, 3, 0],
        east: [5, 0, 0],
      })
    }
    const { rows } = await superuser.query(
      `select kind from inventory_movements where order_id = $1`,
      [order],
    )
    assert.deepEqual(rows, [{ kind: 'allocated' }])
    await assertStockAddsUp(superuser)
  })
})

test('many orders at once', async (t) => {
  const { db, superuser } = await openStock(t)

  await t.test('reserve exactly the units on hand', async () => {
    const single = await putTracked(superuser, { on_hand: 7 })
    const spread = await putTracked(superuser, { on_hand: 3 })
    await putStock(superuser, spread, 4, 'east')
    for (const variant of [single, spread]) {
      const orders = Array.from({ length: 40 }, () => randomUUID())
      const tries = orders.map((order) => reserve(db, order, [line(variant, 1)]))
      assert.equal(countFulfilled(await Promise.allSettled(tries)), 7)
    }
    await assertStockAddsUp(superuser)
  })

  await t.test('never deadlock, whichever variants they reserve', async () => {
    const variants: string[] = []
    for (let n = 0; n < 4; n++) {
      const variant = await putTracked(superuser, { on_hand: 60 })
      await putStock(superuser, variant, 60, 'east')
      variants.push(variant)
    }
    const before = await countDeadlocks(superuser)
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, async (_, n) => {
        const order = randomUUID()
        const ordered = variants.map((each, i) => line(each, 1 + ((n + i) % 3)))
        const lines = n % 2 === 0 ? ordered : ordered.toReversed()
        await reserve(db, order, lines)
        if (n % 5 === 0) return release(db, order)
        await allocate(db, order)
        const [first, , third] = lines
        if (n % 3 !== 0 || first === undefined || third === undefined) return
        await reserveMore(db, order, [line(first.variant_id, 1)])
        await allocate(db, order)
        await releaseExcess(db, order, [line(third.variant_id, third.quantity - 1)])
        await release(db, order)
      }),
    )
    const refused = results.flatMap((each) =>
      each.status === 'rejected' ? [each.reason.code] : [],
    )
    assert.ok(
      refused.every((code) => code === 'insufficient_stock'),
      refused.join(),
    )
    assert.ok(countFulfilled(results) >= 40)
    assert.equal(await countDeadlocks(superuser), before)
    await assertStockAddsUp(superuser)
  })

  await t.test('orders with the same id reserve and allocate their units once', async () => {
    const variant = await putTracked(superuser, { on_hand: 10 })
    const order = randomUUID()
    await times(5, () => reserve(db, order, [line(variant, 2)]).catch(() => {}))
    assert.deepEqual(await countersOf(superuser, variant), { default: [10, 0, 2] })
    const change_id = randomUUID()
    await times(5, () => allocate(db, order))
    await times(5, () => reserveMore(db, order, [line(variant, 1)], change_id))
    await times(5, () => allocate(db, order))
    assert.deepEqual(await countersOf(superuser, variant), { default: [10, 3, 0] })
    await times(5, () => release(db, order))
    assert.deepEqual(await countersOf(superuser, variant), { default: [10, 0, 0] })
    await assertStockAddsUp(superuser)
  })
})

/** Counts the deadlocks of this database. A backend reports its own when it ends, and otherwise seconds later. */
async function countDeadlocks(superuser: pg.Client): Promise<number> {
  await superuser.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and usename = 'fd_app'`,
  )
  const { rows } = await superuser.query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return rows[0].deadlocks
}
