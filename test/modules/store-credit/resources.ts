import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { freshKey } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { allowFeature } from '../entitlements/resources.ts'

async function creditCustomer(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'store_credit')
  const customer_ref = `Zoë/${randomUUID()}`
  const url = `/v1/merchant/store-credit/${encodeURIComponent(customer_ref)}/credit`
  const body = { amount_cents: 500, currency: 'USD', reason: 'a canary' }
  const made = await merchant.post(url, body, freshKey())
  assert.ok(made.body.account, made.text)
  return { customer_ref }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/store-credit/:customer_ref': creditCustomer,
    'GET /v1/merchant/store-credit/:customer_ref/transactions': creditCustomer,
    'POST /v1/merchant/store-credit/:customer_ref/debit': creditCustomer,
  },
  bodies: {
    'POST /v1/merchant/store-credit/:customer_ref/debit': {
      amount_cents: 1,
      currency: 'USD',
      reason: 'a canary',
    },
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'store_credit' }],
    [
      'POST',
      `/v1/merchant/store-credit/${canary}/credit`,
      { amount_cents: 5, currency: 'USD', reason: canary },
    ],
  ],
  rows: {
    store_credit_spent: `insert into store_credit_spent (tenant_ref, order_id, lot_id, amount_cents)
                       select tenant_ref, gen_random_uuid(), id, 1
                         from store_credit_lots where tenant_ref = $1 limit 1`,
  },
}
