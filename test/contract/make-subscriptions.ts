import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../harness/app.ts'
import { APPROVED, addVariant, checkout, openShop } from '../modules/checkout/setup.ts'
import { allowFeature } from './make-store.ts'

/** A subscription of a product that is sold monthly. */
export async function subscribe(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'subscriptions')
  const shop = await openShop(app)
  const monthly = { is_subscription: true, subscription_interval: 'month' }
  const variant_id = await addVariant(merchant, 1_000, monthly)
  const items = [{ variant_id, quantity: 1 }]
  const body = { customer_ref: 'a canary', items, card: APPROVED, subscribe: true }
  const placed = await checkout(app, shop, body)
  assert.equal(placed.status, 201, placed.text)
  return { id: placed.body.subscriptions[0].id as string }
}

export async function act(merchant: Caller, id: string, verb: string) {
  const done = await merchant.post(`/v1/merchant/subscriptions/${id}/${verb}`)
  assert.equal(done.status, 200, done.text)
  return { id }
}
