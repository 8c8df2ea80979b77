import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'
import { makeVariant } from '../harness/variants.ts'

/**
 * How to call each merchant route that names something by id: makes that thing in the caller's own
 * store and answers its path parameters. The generated tests fail for a route that is missing here,
 * so that none is ever left out.
 */
export type Fixture = (merchant: Caller, app: TestApp) => Promise<Record<string, string>>

export const FIXTURES: Record<string, Fixture> = {
  'POST /v1/my/credentials/:id/revoke': async (merchant) => {
    const body = { label: 'a canary', scopes: ['read:own_store'] }
    const made = await merchant.post('/v1/my/credentials', body)
    return { id: made.body.credential.id }
  },
  'GET /v1/merchant/entitlements/requests/:id': requestFeature,
  'POST /v1/merchant/entitlements/requests/:id/withdraw': requestFeature,
  'GET /v1/merchant/domains/:id': claimDomain,
  'POST /v1/merchant/domains/:id/verify': claimDomain,
  'DELETE /v1/merchant/domains/:id': claimDomain,
  'POST /v1/merchant/domains/:id/primary': async (merchant, app) => {
    const { id } = await claimDomain(merchant)
    await app.operator.post(`/v1/stores/acme/domains/${id}/activate`)
    return { id }
  },
  'GET /v1/merchant/marketing/coupons/:id': makeCoupon,
  'PATCH /v1/merchant/marketing/coupons/:id': makeCoupon,
  'POST /v1/merchant/marketing/coupons/:id/pause': makeCoupon,
  'POST /v1/merchant/marketing/coupons/:id/activate': makeCoupon,
  'GET /v1/merchant/marketing/coupons/:id/redemptions': makeCoupon,
  'POST /v1/merchant/marketing/coupons/:id/codes': makeCoupon,
  'GET /v1/merchant/marketing/coupons/:id/codes': makeCoupon,
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
}

const VARIANT = '11111111-1111-4111-8111-111111111111'

/** What each of those routes is sent that needs a body. */
export const BODIES: Record<string, unknown> = {
  'PATCH /v1/merchant/marketing/coupons/:id': {},
  'POST /v1/merchant/marketing/coupons/:id/codes': { count: 1 },
  'PATCH /v1/merchant/pricing-groups/:id': {},
  'POST /v1/merchant/pricing-groups/:id/members': { customer_ref: 'a canary' },
  'PUT /v1/merchant/pricing-groups/:id/prices': { variant_id: VARIANT, price_cents: 1 },
}

const COUPONS = '/v1/merchant/marketing/coupons'
const GROUPS = '/v1/merchant/pricing-groups'

async function makeCoupon(merchant: Caller) {
  const body = { code: randomUUID(), type: 'fixed', amount_cents: 100 }
  const made = await merchant.post(COUPONS, body)
  assert.ok(made.body.coupon, made.text)
  return { id: made.body.coupon.id as string }
}

/** Both stores have the feature, so that only the group is missing in the other. */
async function makeGroup(merchant: Caller, app: TestApp) {
  for (const tenant of ['acme', 'globex']) {
    const url = `/v1/entitlements/tenants/${tenant}/features/pricing_groups`
    await app.operator.put(url, { state: 'allow' })
  }
  await makeVariant(await app.store('acme'), VARIANT)
  const made = await merchant.post(GROUPS, { name: 'a canary' })
  assert.ok(made.body.pricing_group, made.text)
  return { id: made.body.pricing_group.id as string }
}

async function requestFeature(merchant: Caller) {
  const body = { feature_key: 'advanced_fraud', note: 'a canary' }
  const made = await merchant.post('/v1/merchant/entitlements/requests', body)
  assert.ok(made.body.request, made.text)
  return { id: made.body.request.id }
}

async function claimDomain(merchant: Caller) {
  const body = { hostname: `${randomUUID()}.example` }
  const made = await merchant.post('/v1/merchant/domains', body)
  assert.ok(made.body.domain, made.text)
  return { id: made.body.domain.id as string }
}

/** Writes a mark into every place of the store that takes free text. */
export async function plantCanary(merchant: Caller, canary: string): Promise<void> {
  const plants: [string, string, unknown][] = [
    ['PATCH', '/v1/my/store', { display_name: canary }],
    ['POST', '/v1/my/credentials', { label: canary, scopes: ['read:own_store'] }],
    [
      'POST',
      '/v1/merchant/entitlements/requests',
      { feature_key: 'dedicated_gateway', note: canary },
    ],
    ['POST', '/v1/merchant/domains', { hostname: `${canary}.example` }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'pricing_groups' }],
    ['POST', GROUPS, { name: canary }],
    ['POST', COUPONS, { code: canary, type: 'free_shipping' }],
    ['PUT', '/v1/my/store/manifest', { manifest: { brand: { name: canary } } }],
    ['PUT', '/v1/my/site/draft', { manifest: { seo: { [canary]: canary } } }],
  ]
  for (const [method, url, body] of plants) {
    const answer = await merchant.send(method, url, body)
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.text}`)
  }
}

/** A path with its parameters filled in; what is not given is an id that nothing has. */
export const fillPath = (url: string, params: Record<string, string> = {}): string =>
  url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? randomUUID()))
