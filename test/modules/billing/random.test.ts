import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { ok } from '../analytics/setup.ts'
import { listInvoices, openBilling, URL } from './setup.ts'

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('order' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('refund' as const), of: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('flag' as const), of: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('plan' as const), of: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('charge' as const) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('wait' as const), days: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('work' as const) }) },
)

const SEED = 20_320_101
const STEPS = 70

/** The part of an issued invoice that never changes. */
const finalPart = ({
  id,
  number,
  lines,
  total_cents,
  recipient,
  due_at,
}: Record<string, unknown>) => ({
  id,
  number,
  lines,
  total_cents,
  recipient,
  due_at,
})

test('random months count every fact once, and no issued invoice ever changes', async (t) => {
  const app = await openBilling(t)
  const shop = await app.shopAt('random', '2032-01-05T09:00:00Z')
  const steps = fc.sample(step, { seed: SEED, numRuns: STEPS })
  const orders: { id: string; is_test: boolean }[] = []
  const issued = new Map<string, unknown>()
  let now = Date.parse('2032-01-05T09:00:00Z')
  const look = async () => {
    for (const { id, status } of await listInvoices(shop.merchant)) {
      if (status === 'draft') continue
      const { invoice } = ok(await shop.merchant.get(`${URL}/invoices/${id}`))
      const known = issued.get(id)
      if (known === undefined) issued.set(id, finalPart(invoice))
      else assert.deepEqual(finalPart(invoice), known)
    }
  }
  for (const taken of steps) {
    const order = 'of' in taken ? orders[taken.of % Math.max(1, orders.length)] : undefined
    if (taken.does === 'order') {
      orders.push({ id: (await app.place(shop)).order.id, is_test: false })
    } else if (taken.does === 'refund' && order !== undefined) {
      // Some orders have nothing left to refund.
      const { status } = await app.act(shop, order.id, 'refunds', { amount_cents: 450 })
      assert.ok([201, 409, 422].includes(status))
    } else if (taken.does === 'flag' && order !== undefined) {
      order.is_test = !order.is_test
      const url = `/v1/stores/random/orders/${order.id}/test-flag`
      ok(await app.operator.post(url, { is_test: order.is_test }))
    } else if (taken.does === 'plan') {
      ok(await app.setPlan('random', ['pro', 'default'][taken.of] ?? 'pro'))
    } else if (taken.does === 'charge') {
      ok(await app.charge('random', 123), 201)
    } else if (taken.does === 'wait') {
      now += taken.days * DAY_MS
      app.setTime('random', new Date(now).toISOString())
    } else if (taken.does === 'work') {
      await app.work()
      await look()
      await app.check()
    }
  }
  now += 70 * DAY_MS
  app.setTime('random', new Date(now).toISOString())
  await app.work()
  await look()
  await app.check()
  assert.ok(issued.size >= 3, `only ${issued.size} invoices were issued`)
})
