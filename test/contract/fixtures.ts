import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'

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
  'GET /v1/merchant/media/:sha256': uploadAsset,
  'PATCH /v1/merchant/media/:sha256': uploadAsset,
  'DELETE /v1/merchant/media/:sha256': uploadAsset,
  'GET /v1/merchant/domains/:id': claimDomain,
  'POST /v1/merchant/domains/:id/verify': claimDomain,
  'DELETE /v1/merchant/domains/:id': claimDomain,
  'POST /v1/merchant/domains/:id/primary': async (merchant, app) => {
    const { id } = await claimDomain(merchant)
    await app.operator.post(`/v1/stores/acme/domains/${id}/activate`)
    return { id }
  },
}

/** What is sent to those of them that need a body. */
export const BODIES: Record<string, unknown> = {
  'PATCH /v1/merchant/media/:sha256': { alt: 'a canary' },
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWMQMgkDAAD4AJ2ZdwzOAAAAAElFTkSuQmCC'

const newAsset = (alt: string) => ({ content_type: 'image/png', data_base64: PIXEL, alt })

async function uploadAsset(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/media', newAsset('a canary'))
  assert.ok(made.body.asset, made.text)
  return { sha256: made.body.asset.sha256 as string }
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
    ['POST', '/v1/merchant/media', newAsset(canary)],
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
