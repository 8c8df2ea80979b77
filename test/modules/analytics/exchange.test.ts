import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import { assertFiguresAddUp } from '../../harness/analytics-oracles.ts'
import { moveTo } from '../../harness/store-time.ts'
import { type Exchanges, exchangesOf } from '../checkout/exchange-setup.ts'
import { DECLINED } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { assertDrilldowns, countAll, ok, URL } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges

const TAX = { tax: { provider: 'flat_rate', rate_bps: 1_000 } }

let days = 0

/** Counts everything, after a day has passed. */
async function countTomorrow(): Promise<void> {
  const { runtime } = store.app
  days += 1
  moveTo(runtime, 'acme', new Date(Date.now() + days * DAY_MS).toISOString())
  await store.superuser.query('update analytics_generations set due_at = now()')
  await countAll(store.app)
}

const read = async (report: string) => ok(await store.shop.merchant.get(`${URL}/${report}`))

describe('an exchange', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  test('counts the payments that its shopper is asked for, and leaves out test orders', async () => {
    const { exchanged } = await exchanges.asked()
    assert.equal((await exchanges.pay(exchanged.id, { card: DECLINED })).status, 402)
    ok(await exchanges.pay(exchanged.id))
    const counts = async () => {
      const { attempts_count, approved_count, declined_count, figures } = await read('payments')
      await assertDrilldowns(store.shop.merchant, figures)
      return [attempts_count, approved_count, declined_count]
    }
    assert.deepEqual(await counts(), [3, 2, 1], 'before they are counted')
    await countTomorrow()
    assert.deepEqual(await counts(), [3, 2, 1], 'from the counted days')
    const flag = (is_test: boolean) =>
      store.app.operator.post(`/v1/stores/acme/orders/${exchanged.id}/test-flag`, { is_test })
    ok(await flag(true))
    assert.deepEqual(await counts(), [1, 1, 0])
    ok(await flag(false))
    assert.deepEqual(await counts(), [3, 2, 1])
    await assertFiguresAddUp(store.superuser)
  })

  test('an exchange that is cancelled leaves no refund and no tax on the returned goods', async () => {
    await countTomorrow()
    const before = await read('summary')
    const from = await exchanges.tracked(5, 1_000)
    const to = await exchanges.tracked(5, 1_000)
    const { made } = await exchanges.returnedOf(from, 1, TAX)
    const items = [{ variant_id: to, quantity: 1 }]
    const { order } = ok(await exchanges.exchange(made.id, { items, advance: true }), 201)
    assert.equal(order.total_cents, 1_100)
    ok(await store.merchant(order.id, 'cancel', { reason: 'customer' }))
    await countTomorrow()
    const after = await read('summary')
    const added = (name: string) => after[name] - (before[name] ?? 0)
    assert.deepEqual(
      ['gross_cents', 'refund_cents', 'tax_cents', 'refunded_tax_cents'].map(added),
      [2_000, 1_000, 200, 100],
      'two sales, and the refund of the second',
    )
    const { groups } = await read('sales?group_by=variant')
    const refunds = [from, to].map(
      (variant) => groups.find(({ key }: { key: string }) => key === variant)?.refund_cents,
    )
    assert.deepEqual(refunds, [0, 1_000])
    await assertFiguresAddUp(store.superuser)
    await analytics.rebuild(store.app.runtime.workerDatabase.tenant('acme'))
    await countTomorrow()
    await assertFiguresAddUp(store.superuser)
  })
})
