import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../../src/errors.ts'
import * as redemptions from '../../../src/modules/marketing/redemptions.ts'
import { openTestApp } from '../../harness/app.ts'
import { createCoupon } from '../marketing/setup.ts'
import { act, createCampaign, readCampaign, URL } from './setup.ts'

const step = fc.oneof(
  fc.record({
    kind: fc.constant('reserve' as const),
    coupon: fc.nat(1),
    discount_cents: fc.integer({ min: 0, max: 400 }),
  }),
  fc.record({ kind: fc.constantFrom('release' as const, 'confirm' as const), order: fc.nat(9) }),
  fc.record({ kind: fc.constant('raise' as const), by: fc.integer({ min: 1, max: 300 }) }),
)

test('the used budget is the sum of its orders, and never more than the limit, after any steps', async (t) => {
  const app = await openTestApp(t)
  const merchant = await app.merchant('acme')
  const db = await app.store('acme')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('spend' as const, 'uses' as const),
      fc.array(step, { minLength: 1, maxLength: 15 }),
      async (type, steps) => {
        let limit = type === 'spend' ? 900 : 3
        const { id } = await createCampaign(merchant, { budget: { type, limit } })
        await act(merchant, id, 'schedule', {})
        const coupons = [
          await createCoupon(merchant, { campaign_id: id }),
          await createCoupon(merchant, { campaign_id: id }),
        ]
        /** What each order took; null once it was released. */
        const orders: { order_id: string; taken: number | null }[] = []
        const used = () => orders.reduce((sum, { taken }) => sum + (taken ?? 0), 0)
        for (const each of steps) {
          if (each.kind === 'raise') {
            limit += each.by
            await merchant.patch(`${URL}/${id}`, { budget: { type, limit } })
          } else if (each.kind === 'reserve') {
            const amount = type === 'uses' ? 1 : each.discount_cents
            const fits = used() + amount <= limit && used() < limit
            const order_id = randomUUID()
            const use = {
              coupon_id: coupons[each.coupon].id,
              customer_ref: order_id,
              order_id,
              discount_cents: each.discount_cents,
            }
            const result = await db
              .transaction('reserve', (tx) => redemptions.reserve(tx, use))
              .then(() => 'reserved')
              .catch((error: unknown) =>
                error instanceof ApiError ? error.body.reason : Promise.reject(error),
              )
            assert.equal(result, fits ? 'reserved' : 'exhausted')
            if (fits) orders.push({ order_id, taken: amount })
          } else {
            const order = orders[each.order]
            if (order === undefined) continue
            const { order_id } = order
            const end = each.kind === 'release' ? redemptions.release : redemptions.confirm
            await db.transaction(each.kind, (tx) => end(tx, { order_id }))
            if (each.kind === 'release') order.taken = null
          }
          const { budget } = await readCampaign(merchant, id)
          assert.deepEqual(budget, { type, limit, used: used() })
        }
      },
    ),
    { numRuns: 12 },
  )
})
