import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type RenewalApp, shareRenewalApp } from './setup.ts'

describe('a renewal', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  test('a renewal at a locked price costs the same, even if the store changes whether prices contain tax', async () => {
    const tax = { provider: 'flat_rate', rate_bps: 2_500 }
    for (const inside of [true, false]) {
      const manifest = (prices_include_tax: boolean) => ({ tax: { prices_include_tax } })
      const shop = await app.newShop({ manifest: manifest(inside) })
      app.setTime(shop, '2027-01-10T12:00:00Z')
      const locked = await app.subscribe(shop, { tax })
      const current = await app.subscribe(shop, { tax })
      const change = async (id: string, body: object) => {
        const answer = await shop.merchant.patch(`/v1/merchant/subscriptions/${id}`, body)
        assert.equal(answer.status, 200, answer.text)
        return answer.body.subscription
      }
      await change(current.id, { price_policy: 'current' })
      const published = { manifest: manifest(!inside) }
      const put = await shop.merchant.put('/v1/my/store/manifest', published)
      assert.equal(put.status, 200, put.text)
      const announced = async (id: string) => {
        const { body } = await shop.merchant.get(`/v1/merchant/subscriptions/${id}`)
        return body.subscription.next_charges[0].amount_cents
      }
      const [sold, now] = inside ? [1_000, 1_250] : [1_250, 1_000]
      assert.deepEqual([await announced(locked.id), await announced(current.id)], [sold, now])
      app.setTime(shop, '2027-02-10T12:00:00Z')
      assert.deepEqual(await app.run(shop), ['charge', 'charge'])
      const chargedOf = async (id: string) => {
        const [order] = await app.orders(id)
        return [Number(order.total_cents), order.prices_include_tax]
      }
      assert.deepEqual(await chargedOf(locked.id), [sold, inside])
      assert.deepEqual(await chargedOf(current.id), [now, !inside])
      const relocked = await change(current.id, { price_policy: 'locked' })
      assert.equal(relocked.next_charges[0].amount_cents, now)
    }
  })
})
