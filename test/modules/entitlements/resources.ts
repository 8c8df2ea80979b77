import assert from 'node:assert/strict'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

/** Both stores have the add-on, so that only the row is missing in the other. */
export async function allowFeature(app: TestApp, feature_key: string) {
  for (const tenant of ['acme', 'globex']) {
    const url = `/v1/entitlements/tenants/${tenant}/features/${feature_key}`
    await app.operator.put(url, { state: 'allow' })
  }
}

async function requestFeature(merchant: Caller) {
  const body = { feature_key: 'advanced_fraud', note: 'a canary' }
  const made = await merchant.post('/v1/merchant/entitlements/requests', body)
  assert.ok(made.body.request, made.text)
  return { id: made.body.request.id }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/entitlements/requests/:id': requestFeature,
    'POST /v1/merchant/entitlements/requests/:id/withdraw': requestFeature,
  },
  texts: (canary) => [
    [
      'POST',
      '/v1/merchant/entitlements/requests',
      { feature_key: 'dedicated_gateway', note: canary },
    ],
  ],
  rows: {
    entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'funnel_gate', 'self_serve', 'allow')`,
    entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
    store_usage: `insert into store_usage (tenant_ref, limit_key, used) values ($1, 'none', 1)`,
  },
}
