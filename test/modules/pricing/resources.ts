import assert from 'node:assert/strict'
import { VARIANT } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { makeVariant as plantVariant } from '../../harness/variants.ts'
import { allowFeature } from '../entitlements/resources.ts'

export const GROUPS = '/v1/merchant/pricing-groups'

async function makeGroup(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'pricing_groups')
  await plantVariant(await app.store('acme'), VARIANT)
  const made = await merchant.post(GROUPS, { name: 'a canary' })
  assert.ok(made.body.pricing_group, made.text)
  return { id: made.body.pricing_group.id as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/pricing-groups/:id': makeGroup,
    'PATCH /v1/merchant/pricing-groups/:id': makeGroup,
    'DELETE /v1/merchant/pricing-groups/:id': makeGroup,
    'POST /v1/merchant/pricing-groups/:id/members': makeGroup,
    'GET /v1/merchant/pricing-groups/:id/members': makeGroup,
    'DELETE /v1/merchant/pricing-groups/:id/members/:customer_ref': async (merchant, app) => {
      const { id } = await makeGroup(merchant, app)
      await merchant.post(`${GROUPS}/${id}/members`, { customer_ref: 'a canary' })
      return { id, customer_ref: 'a canary' }
    },
    'PUT /v1/merchant/pricing-groups/:id/prices': makeGroup,
    'GET /v1/merchant/pricing-groups/:id/prices': makeGroup,
    'DELETE /v1/merchant/pricing-groups/:id/prices/:variant_id': async (merchant, app) => {
      const { id } = await makeGroup(merchant, app)
      await merchant.put(`${GROUPS}/${id}/prices`, { variant_id: VARIANT, price_cents: 1 })
      return { id, variant_id: VARIANT }
    },
  },
  bodies: {
    'PATCH /v1/merchant/pricing-groups/:id': {},
    'POST /v1/merchant/pricing-groups/:id/members': { customer_ref: 'a canary' },
    'PUT /v1/merchant/pricing-groups/:id/prices': { variant_id: VARIANT, price_cents: 1 },
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'pricing_groups' }],
    ['POST', GROUPS, { name: canary }],
  ],
  rows: {
    pricing_group_members: `insert into pricing_group_members (tenant_ref, group_id, customer_ref)
                          select $1, id, 'a canary'
                            from pricing_groups where tenant_ref = $1 limit 1`,
    pricing_group_prices: `with p as (insert into products (tenant_ref, slug, name)
                                    values ($1, 'priced', 'Priced') returning id),
                              v as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                                    select $1, id, 'priced', 1, 'USD' from p returning id)
                         insert into pricing_group_prices
                                (tenant_ref, group_id, variant_id, min_quantity, price_cents)
                         select $1, g.id, v.id, 1, 1
                           from pricing_groups g, v where g.tenant_ref = $1 limit 1`,
  },
}
