import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { ok } from '../subscriptions/setup.ts'
import { CARDS, type RenewalApp, type RenewalShop, shareRenewalApp } from './setup.ts'

const SUBSCRIPTION = [
  'currency',
  'id',
  'interval',
  'interval_count',
  'product_id',
  'quantity',
  'subscription_number',
  'unit_price_cents',
  'variant_id',
]

describe('an event about a subscription', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  const act = async ({ merchant }: RenewalShop, id: string, verb: string) =>
    ok(await merchant.post(`/v1/merchant/subscriptions/${id}/${verb}`))

  test('has the same members whatever has caused it: a request, its order or the scheduler', async () => {
    const shop = await app.newShop()
    const { tenant, merchant } = shop
    app.setTime(shop, '2027-01-10T12:00:00Z')
    const paused = await app.subscribe(shop, { customer_ref: 'ann' })
    await act(shop, paused.id, 'pause')
    await act(shop, paused.id, 'resume')
    const own = `/v1/tenants/${tenant}/subscriptions/${paused.id}`
    ok(await app.storefront.post(`${own}/cancel?customer_ref=ann`, {}))
    const withOrder = await app.subscribe(shop)
    const key = { 'idempotency-key': randomUUID() }
    const reason = { reason: 'customer' }
    ok(await merchant.post(`/v1/merchant/orders/${withOrder.order_id}/cancel`, reason, key))
    await app.subscribe(shop, { card: CARDS.stop })
    const banned = await app.subscribe(shop, { email: 'banned@example.com' })
    const ban = { kind: 'email', value: 'banned@example.com', reason: 'x' }
    ok(await merchant.post('/v1/merchant/fraud/bans', ban), 201)
    const until = await app.subscribe(shop)
    const pause = { until: '2027-01-20' }
    ok(await merchant.post(`/v1/merchant/subscriptions/${until.id}/pause`, pause))
    app.setTime(shop, '2027-02-10T06:01:00Z')
    await app.run(shop)
    await app.events(banned.id)

    const { events } = ok(await merchant.get('/v1/merchant/events?after=0&limit=500'))
    const told = events.filter(({ type }: { type: string }) =>
      type.startsWith('commerce.subscription.'),
    )
    const found = new Map<string, string[]>()
    for (const { type, data } of told) {
      assert.deepEqual(Object.keys(data.subscription).toSorted(), SUBSCRIPTION, type)
      if (!/paused|resumed|cancelled/.test(type)) continue
      const [, , verb] = type.split('.')
      found.set(verb, [...(found.get(verb) ?? []), `${data.status}: ${data.reason}`].toSorted())
    }
    assert.deepEqual(Object.fromEntries(found), {
      paused: ['paused: banned', 'paused: merchant', 'paused: merchant'],
      resumed: ['active: merchant', 'active: paused_until'],
      cancelled: ['cancelled: order_cancelled', 'cancelled: shopper', 'cancelled: stopped_by_bank'],
    })
  })
})
