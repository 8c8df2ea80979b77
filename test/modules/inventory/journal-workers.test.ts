import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import pg from 'pg'
import { postStockJournals } from '../../../src/modules/inventory/journal-jobs.ts'
import type { Caller } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { times } from '../../harness/refusals.ts'
import { assertStockAddsUp } from '../../harness/stock-oracles.ts'
import { openShop } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, ordered, receiveAll, tracked } from '../purchasing/setup.ts'
import { type Returns, returnsOf } from '../returns/setup.ts'
import {
  addCost,
  adjust,
  balancesOf,
  bought,
  countWaiting,
  journalsSince,
  lastJournal,
  postAll,
} from './journal-setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller
let returns: Returns

const step = () => postStockJournals(store.app.runtime.workerDatabase)
const waiting = () => countWaiting(store.superuser, 'acme')

/** A connection that holds locks until it is closed. */
async function withLocks<T>(lock: string, values: unknown[], work: () => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: store.app.database.url })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(lock, values)
    return await work()
  } finally {
    await holder.end()
  }
}

/** The backends that wait for a lock while they run a statement with this text. */
async function listBlocked(text: string): Promise<number[]> {
  const { rows } = await store.superuser.query(
    `select pid from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database() and query like $1`,
    [`%${text}%`],
  )
  return rows.map(({ pid }) => pid)
}

describe('the loop that posts journals of stock', () => {
  before(() => {
    store = shared.current
    merchant = store.shop.merchant
    returns = returnsOf(store)
  })

  test('posts each change once, although the worker is killed in the middle', async () => {
    await postAll(store.app)
    const variant_id = await tracked(merchant)
    await bought(merchant, [{ variant_id, quantity: 5, unit_cost_cents: 31 }])
    const after = await lastJournal(store.superuser, 'acme')
    const died = await withLocks('lock table ledger_journals in share mode', [], async () => {
      const running = step().catch((error: Error) => error)
      await until('the worker waits', async () => (await listBlocked('ledger_journals')).length > 0)
      const [pid] = await listBlocked('ledger_journals')
      await store.superuser.query('select pg_terminate_backend($1)', [pid])
      return running
    })
    assert.ok(died instanceof Error, 'the step has failed')
    assert.equal(await waiting(), 1, 'the change is in the queue again')
    assert.deepEqual(await journalsSince(store.superuser, 'acme', after), [])
    assert.equal(await postAll(store.app), 1)
    assert.equal((await journalsSince(store.superuser, 'acme', after)).length, 1)
    await assertStockAddsUp(store.superuser)
  })

  test('posts a change that commits after later ones', async () => {
    const [a = '', b = ''] = [await tracked(merchant), await tracked(merchant)].sort()
    const line = (variant_id: string) => ({ variant_id, quantity: 2, unit_cost_cents: 10 })
    await bought(merchant, [line(a), line(b)])
    const late = await ordered(merchant, [line(a), line(b)])
    await postAll(store.app)
    const lock = 'select from inventory_costs where variant_id = $1 for update'
    const { receiving } = await withLocks(lock, [b], async () => {
      // It has written the entry of the first variant, and waits for the second.
      const sent = receiveAll(merchant, late)
      await until('it waits', async () => (await listBlocked('inventory_movements')).length > 0)
      await bought(merchant, [line(await tracked(merchant))])
      assert.equal(await postAll(store.app), 1)
      return { receiving: sent }
    })
    await receiving
    const after = await lastJournal(store.superuser, 'acme')
    assert.equal(await postAll(store.app), 2)
    const [journal, ...others] = await journalsSince(store.superuser, 'acme', after)
    assert.deepEqual(
      [journal?.ref, journal?.accounts, others],
      [late.id, { inventory_asset: 40, goods_in_transit: -40 }, []],
    )
  })

  test('is safe with several workers while goods come and go', async () => {
    const variant_id = await tracked(merchant)
    const purchase = await bought(merchant, [{ variant_id, quantity: 40, unit_cost_cents: 97 }])
    let isDone = false
    const acting = Promise.all([
      times(8, () => returns.shipped({ items: [{ variant_id, quantity: 3 }] })),
      times(4, async () => ok(await addCost(merchant, purchase.id, 33), 201)),
      times(4, () => adjust(merchant, variant_id, 1)),
    ]).finally(() => {
      isDone = true
    })
    const worker = async () => {
      while (!isDone) await step()
    }
    await Promise.all([acting, worker(), worker(), worker()])
    await postAll(store.app)
    assert.equal(await waiting(), 0)
    await assertStockAddsUp(store.superuser)
    await assertOracles(store.superuser)
    const balances = await balancesOf(merchant)
    assert.ok(balances.inventory_asset)
  })

  test('leaves the work to the next step when it is stopped', async () => {
    await postAll(store.app)
    const variant_id = await tracked(merchant)
    await bought(merchant, [{ variant_id, quantity: 1, unit_cost_cents: 3 }])
    const { workerDatabase } = store.app.runtime
    assert.equal(await postStockJournals(workerDatabase, AbortSignal.abort()), 0)
    assert.equal(await waiting(), 1)
    assert.equal(await postAll(store.app), 1)
  })

  test('works for one store while the changes of another cannot be posted', async () => {
    const other = await openShop(store.app, 'broken')
    const broken = await tracked(other.merchant)
    // More than any path of the platform writes: no journal can have the sum.
    await store.superuser.query(
      `insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents,
                                           units_after, value_after_cents)
       values ('broken', $1, 'opening', 0, 90071992547409910, 90071992547409910, 0, 0)`,
      [broken],
    )
    const variant_id = await tracked(merchant)
    await bought(merchant, [{ variant_id, quantity: 1, unit_cost_cents: 8 }])
    await assert.rejects(step(), RangeError)
    assert.equal(await waiting(), 0)
    assert.deepEqual(await balancesOf(other.merchant), {})
    await store.superuser.query(`delete from inventory_unposted where tenant_ref = 'broken'`)
  })
})
