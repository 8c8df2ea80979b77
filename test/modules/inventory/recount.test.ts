import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createRecount } from '../../../src/modules/inventory/jobs.ts'
import * as orderStock from '../../../src/modules/inventory/order-stock.ts'
import { openStock, putTracked, recountNow } from './setup.ts'

test('the recount of stock', async (t) => {
  const { testDatabase, db, superuser } = await openStock(t)
  const worker = testDatabase.open('fd_worker')
  const log: Record<string, unknown>[] = []
  const logger = { error: (fields: Record<string, unknown>) => void log.push(fields) }
  const recount = async () => {
    log.length = 0
    await recountNow(worker, superuser, logger)
    return log.map(({ variant_id, counter, kept, counted }) => [variant_id, counter, kept, counted])
  }
  const sell = (
    variant_id: string,
    quantity: number,
    hold = Promise.resolve(),
    onSold = () => {},
  ) =>
    db.transaction('sell', async (tx) => {
      const order_id = randomUUID()
      await orderStock.reserve(tx, order_id, [{ variant_id, quantity }])
      await orderStock.sell(tx, order_id)
      onSold()
      await hold
    })
  const countOf = async (variant: string) =>
    (
      await superuser.query(
        `select c.seq = (select max(seq) from inventory_movements m where m.variant_id = $1) as newest,
                c.on_hand::int, c.allocated::int
           from inventory_counts c where c.variant_id = $1`,
        [variant],
      )
    ).rows[0]
  const changeFirst = async (variant: string, by: number) => {
    await superuser.query('begin')
    await superuser.query('set local session_replication_role = replica')
    await superuser.query(
      `update inventory_movements set quantity = quantity + $2
        where variant_id = $1 and kind = 'received'`,
      [variant, by],
    )
    await superuser.query('commit')
  }

  await t.test('continues after the last movement that it has counted', async () => {
    const variant = await putTracked(superuser, { on_hand: 50 })
    await sell(variant, 2)
    assert.deepEqual(await recount(), [])
    assert.deepEqual(await countOf(variant), { newest: true, on_hand: 50, allocated: 2 })
    await sell(variant, 3)
    // It would be noticed if the movements before were read again.
    await changeFirst(variant, 1)
    assert.deepEqual(await recount(), [])
    assert.deepEqual(await countOf(variant), { newest: true, on_hand: 50, allocated: 5 })
    await changeFirst(variant, -1)
  })

  await t.test('begins again at the first movement within the period', async () => {
    const variant = await putTracked(superuser, { on_hand: 50 })
    assert.deepEqual(await recount(), [])
    const { rows } = await superuser.query(
      `select again_at between now() and now() + interval '7 days' as planned
         from inventory_counts where variant_id = $1`,
      [variant],
    )
    assert.deepEqual(rows, [{ planned: true }])
    await changeFirst(variant, 4)
    await superuser.query('update inventory_counts set again_at = now() where variant_id = $1', [
      variant,
    ])
    assert.deepEqual(await recount(), [[variant, 'on_hand', 50, 54]])
    await changeFirst(variant, -4)
    await superuser.query('update inventory_counts set again_at = now() where variant_id = $1', [
      variant,
    ])
    assert.deepEqual(await recount(), [])
    const again = await superuser.query(
      `select again_at > now() + interval '6 days' as later
         from inventory_counts where variant_id = $1`,
      [variant],
    )
    assert.deepEqual(again.rows, [{ later: true }])
  })

  await t.test('counts movements that commit late, of any level', async () => {
    const [slow, quick] = [
      await putTracked(superuser, { on_hand: 50 }),
      await putTracked(superuser, { on_hand: 50 }),
    ]
    const commit = Promise.withResolvers<void>()
    const sold = Promise.withResolvers<void>()
    const late = sell(slow, 4, commit.promise, sold.resolve)
    await sold.promise
    const behind = sell(slow, 1)
    // These get a higher number than the movement that waits, and commit before it.
    await sell(quick, 7)
    assert.deepEqual(await recount(), [])
    assert.deepEqual(await countOf(slow), { newest: true, on_hand: 50, allocated: 0 })
    assert.deepEqual(await countOf(quick), { newest: true, on_hand: 50, allocated: 7 })
    commit.resolve()
    await Promise.all([late, behind])
    assert.deepEqual(await recount(), [])
    assert.deepEqual(await countOf(slow), { newest: true, on_hand: 50, allocated: 5 })
  })

  await t.test(
    'reads a bounded part of a long history at a time, and compares at the end',
    async () => {
      const variant = await putTracked(superuser, { on_hand: 50 })
      await superuser.query(
        `insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                        on_hand_after, allocated_after, actor)
       select 'acme', $1, 'default', 'adjusted', case n % 2 when 0 then 1 else -1 end, 50, 0, 'test'
         from generate_series(1, 4500) n`,
        [variant],
      )
      await superuser.query('update inventory_recounts set due_at = now()')
      const step = createRecount({ database: worker, logger: logger as never, days: 7 })
      const seen: number[] = []
      for (let did = 1; did > 0; ) {
        did = await step()
        const { rows } = await superuser.query(
          `select count(*)::int as counted from inventory_movements m
           join inventory_counts c using (tenant_ref, variant_id, location_id)
          where m.variant_id = $1 and m.seq <= c.seq`,
          [variant],
        )
        seen.push(rows[0].counted)
      }
      assert.deepEqual([...new Set(seen)], [2_000, 4_000, 4_501])
      assert.deepEqual(await countOf(variant), { newest: true, on_hand: 50, allocated: 0 })
      await superuser.query('update inventory_levels set on_hand = 51 where variant_id = $1', [
        variant,
      ])
      assert.deepEqual(await recount(), [[variant, 'on_hand', 51, 50]])
      await superuser.query('update inventory_levels set on_hand = 50 where variant_id = $1', [
        variant,
      ])
    },
  )

  await t.test('adds up any number of open reservations', async () => {
    const variant = await putTracked(superuser, { on_hand: 20_000 })
    await superuser.query(
      `insert into inventory_reservations (tenant_ref, order_id, variant_id, location_id, reserved)
       select 'acme', gen_random_uuid(), $1, 'default', 1 from generate_series(1, 10050)`,
      [variant],
    )
    assert.deepEqual(await recount(), [[variant, 'reserved', 0, 10_050]])
    await superuser.query('update inventory_levels set reserved = 10050 where variant_id = $1', [
      variant,
    ])
    assert.deepEqual(await recount(), [])
  })

  await t.test('visits every level of a store once a day, and not at every start', async () => {
    for (let n = 0; n < 25; n++) await putTracked(superuser, { on_hand: 1 })
    await recount()
    const { rows } = await superuser.query(
      `select count(*)::int as levels, count(c.seq)::int as counted
         from inventory_levels left join inventory_counts c
              using (tenant_ref, variant_id, location_id)`,
    )
    assert.equal(rows[0].levels, rows[0].counted)
    const next = createRecount({ database: worker, logger: logger as never, days: 7 })
    assert.equal(await next(), 0, 'a new process does not begin anew')
    const due = await superuser.query(
      `select due_at between now() + interval '23 hours' and now() + interval '1 day' as tomorrow
         from inventory_recounts`,
    )
    assert.deepEqual(due.rows, [{ tomorrow: true }])
  })

  await t.test('sees a single moment while stock moves', async () => {
    const variant = await putTracked(superuser, { on_hand: 1_000 })
    let sold = false
    const selling = (async () => {
      for (let n = 0; n < 40; n++) await sell(variant, 1)
      sold = true
    })()
    while (!sold) assert.deepEqual(await recount(), [])
    await selling
    assert.deepEqual(await recount(), [])
    assert.deepEqual(await countOf(variant), { newest: true, on_hand: 1_000, allocated: 40 })
  })
})
