import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { APPROVED, addVariant, checkout, openShop } from '../checkout/setup.ts'
import { allowFeature } from '../entitlements/resources.ts'

/** A subscription of a product that is sold monthly. */
async function subscribe(merchant: Caller, app: TestApp) {
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

async function act(merchant: Caller, id: string, verb: string) {
  const done = await merchant.post(`/v1/merchant/subscriptions/${id}/${verb}`)
  assert.equal(done.status, 200, done.text)
  return { id }
}

export const resources: Resources = {
  fixtures: {
    'POST /v1/merchant/subscriptions/:id/charge': subscribe,
    'GET /v1/merchant/subscriptions/:id': subscribe,
    'PATCH /v1/merchant/subscriptions/:id': subscribe,
    'GET /v1/merchant/subscriptions/:id/cycles': async (merchant, app) => {
      const { id } = await subscribe(merchant, app)
      for (const _ of [2, 3]) await act(merchant, id, 'skip')
      return { id }
    },
    'POST /v1/merchant/subscriptions/:id/pause': subscribe,
    'POST /v1/merchant/subscriptions/:id/resume': async (merchant, app) => {
      const { id } = await subscribe(merchant, app)
      return act(merchant, id, 'pause')
    },
    'POST /v1/merchant/subscriptions/:id/skip': subscribe,
    'POST /v1/merchant/subscriptions/:id/unskip': async (merchant, app) => {
      const { id } = await subscribe(merchant, app)
      return act(merchant, id, 'skip')
    },
    'POST /v1/merchant/subscriptions/:id/cancel': subscribe,
    'POST /v1/merchant/subscriptions/:id/payment-method': subscribe,
  },
  bodies: {
    'PATCH /v1/merchant/subscriptions/:id': { quantity: 2 },
    'POST /v1/merchant/subscriptions/:id/cancel': { reason: 'a canary' },
    'POST /v1/merchant/subscriptions/:id/payment-method': { card: APPROVED },
  },
  rows: {
    subscriptions: `with started as (
                    insert into subscriptions (tenant_ref, id, customer_ref, product_id, variant_id,
                           quantity, interval, interval_count, unit_price_cents, currency,
                           origin_order_id, anchor_on, current_period_start, subscription_number)
                    values ($1, gen_random_uuid(), 'x', gen_random_uuid(), gen_random_uuid(), 1,
                            'month', 1, 100, 'USD', gen_random_uuid(), now(), now(), 1)
                    returning id)
                  , declined as (
                    insert into subscription_declines (tenant_ref, subscription_id, cycle, order_id,
                           amount_cents, currency, class)
                    select $1, id, 2, id, 100, 'USD', 'soft' from started)
                  insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at,
                         order_id)
                  select $1, id, 1, 'paid', now(), id from started`,
    subscription_counters: `insert into subscription_counters (tenant_ref, last_number) values ($1, 1001)`,
    subscription_settings: `insert into subscription_settings (tenant_ref) values ($1)`,
  },
}
