import assert from 'node:assert/strict'
import type { Caller } from '../harness/app.ts'
import { freshKey } from './ids.ts'
import { CAMPAIGNS } from './make-campaigns.ts'
import { COUPONS, GROUPS, newAsset } from './make-catalog.ts'

/** Writes a marker into every free text of the store. */
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
    ['POST', '/v1/merchant/fraud/bans', { kind: 'address', value: canary, reason: canary }],
    ['POST', '/v1/merchant/inventory/locations', { id: canary, name: canary }],
    ['POST', '/v1/merchant/purchasing/vendors', { name: canary, notes: canary, phone: canary }],
    [
      'POST',
      '/v1/merchant/webhooks',
      {
        url: `https://${canary}.example/${canary}`,
        description: canary,
        events: ['commerce.order.placed.v1'],
      },
    ],
    ['POST', '/v1/merchant/media', newAsset(canary)],
    ['POST', '/v1/merchant/catalog/products', { slug: canary, name: canary, description: canary }],
    ['POST', '/v1/merchant/catalog/collections', { slug: canary, title: canary }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'pricing_groups' }],
    ['POST', GROUPS, { name: canary }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'affiliates' }],
    [
      'POST',
      '/v1/merchant/affiliates',
      { name: canary, email: `${canary}@example.com`, website: canary, code: canary },
    ],
    ['POST', COUPONS, { code: canary, type: 'free_shipping' }],
    [
      'POST',
      '/v1/merchant/marketing/segments',
      {
        name: canary,
        match: 'all',
        conditions: [{ field: 'place', op: 'in', value: ['US'] }],
      },
    ],
    [
      'POST',
      '/v1/merchant/marketing/suppressions',
      { email: `${canary}@canary.example`, detail: canary },
    ],
    [
      'POST',
      '/v1/merchant/marketing/consents/withdraw',
      { email: `${canary}@canary.example`, note: canary },
    ],
    ['POST', CAMPAIGNS, { name: canary, channel: 'email', subject: canary, body_markdown: canary }],
    ['PUT', '/v1/my/store/manifest', { manifest: { brand: { name: canary } } }],
    ['PUT', '/v1/my/site/draft', { manifest: { seo: { [canary]: canary } } }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'store_credit' }],
    ['POST', '/v1/my/privacy/export', { customer_ref: canary }],
    ['POST', '/v1/merchant/gift-cards', { initial_balance_cents: 5, note: canary }],
    [
      'POST',
      `/v1/merchant/store-credit/${canary}/credit`,
      { amount_cents: 5, currency: 'USD', reason: canary },
    ],
  ]
  for (const [method, url, body] of plants) {
    const answer = await merchant.send(method, url, body, freshKey())
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.text}`)
  }
}
