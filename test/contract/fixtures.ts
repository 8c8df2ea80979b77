import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'

/**
 * How to call each merchant route that names something by id: makes that thing in the caller's own
 * store and answers its path parameters. The generated tests fail for a route that is missing here,
 * so that none is ever left out.
 */
export type Fixture = (merchant: Caller, app: TestApp) => Promise<Record<string, string>>

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWMQMgkDAAD4AJ2ZdwzOAAAAAElFTkSuQmCC'

/** Another one, which products use: what is in use cannot be deleted. */
const SHOWN_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWM4kcwMAAMlAS9AfySPAAAAAElFTkSuQmCC'
const SHOWN_HASH = createHash('sha256').update(Buffer.from(SHOWN_PIXEL, 'base64')).digest('hex')

/** The generated tests call their own store so. */
const ACME_IMAGE = { asset_ref: `asset:acme/${SHOWN_HASH}.png` }

export const FIXTURES: Record<string, Fixture> = {
  'POST /v1/my/credentials/:id/revoke': async (merchant) => {
    const body = { label: 'a canary', scopes: ['read:own_store'] }
    const made = await merchant.post('/v1/my/credentials', body)
    return { id: made.body.credential.id }
  },
  'GET /v1/merchant/entitlements/requests/:id': requestFeature,
  'POST /v1/merchant/entitlements/requests/:id/withdraw': requestFeature,
  'GET /v1/merchant/catalog/products/:id': makeProduct,
  'PATCH /v1/merchant/catalog/products/:id': makeProduct,
  'POST /v1/merchant/catalog/products/:id/archive': makeProduct,
  'POST /v1/merchant/catalog/products/:id/variants': makeProduct,
  'PATCH /v1/merchant/catalog/products/:id/variants/:variantId': makeVariant,
  'POST /v1/merchant/catalog/products/:id/variants/:variantId/archive': makeVariant,
  'PUT /v1/merchant/catalog/products/:id/image': makeProduct,
  'GET /v1/merchant/catalog/products/:id/images': makeProduct,
  'POST /v1/merchant/catalog/products/:id/images': makeProduct,
  'PUT /v1/merchant/catalog/products/:id/images': makeProduct,
  'DELETE /v1/merchant/catalog/products/:id/images/:sha256': async (merchant) => {
    const { id } = await makeProduct(merchant)
    const made = await merchant.post(`/v1/merchant/catalog/products/${id}/images`, ACME_IMAGE)
    assert.equal(made.status, 201, made.text)
    return { id, sha256: SHOWN_HASH }
  },
  'GET /v1/merchant/catalog/collections/:id': makeCollection,
  'PATCH /v1/merchant/catalog/collections/:id': makeCollection,
  'DELETE /v1/merchant/catalog/collections/:id': makeCollection,
  'PUT /v1/merchant/catalog/collections/:id/products': makeCollection,
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
  'PATCH /v1/merchant/catalog/products/:id': { name: 'a canary' },
  'POST /v1/merchant/catalog/products/:id/variants': { sku: 'canary', price_cents: 1 },
  'PATCH /v1/merchant/catalog/products/:id/variants/:variantId': { price_cents: 2 },
  'PUT /v1/merchant/catalog/products/:id/image': ACME_IMAGE,
  'POST /v1/merchant/catalog/products/:id/images': ACME_IMAGE,
  'PUT /v1/merchant/catalog/products/:id/images': { images: [ACME_IMAGE] },
  'PATCH /v1/merchant/catalog/collections/:id': { title: 'a canary' },
  'PUT /v1/merchant/catalog/collections/:id/products': { product_ids: [] },
  'PATCH /v1/merchant/media/:sha256': { alt: 'a canary' },
}

const newAsset = (alt: string) => ({ content_type: 'image/png', data_base64: PIXEL, alt })

async function uploadAsset(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/media', newAsset('a canary'))
  assert.ok(made.body.asset, made.text)
  return { sha256: made.body.asset.sha256 as string }
}

/** A product, and beside it the asset that can be its picture. */
async function makeProduct(merchant: Caller) {
  const picture = { content_type: 'image/png', data_base64: SHOWN_PIXEL }
  await merchant.post('/v1/merchant/media', picture)
  const body = { slug: randomUUID(), name: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/products', body)
  assert.ok(made.body.product, made.text)
  return { id: made.body.product.id as string }
}

async function makeVariant(merchant: Caller) {
  const { id } = await makeProduct(merchant)
  const body = { sku: randomUUID(), price_cents: 1 }
  const made = await merchant.post(`/v1/merchant/catalog/products/${id}/variants`, body)
  assert.ok(made.body.variant, made.text)
  return { id, variantId: made.body.variant.id as string }
}

async function makeCollection(merchant: Caller) {
  const body = { slug: randomUUID(), title: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/collections', body)
  assert.ok(made.body.collection, made.text)
  return { id: made.body.collection.id as string }
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
    ['POST', '/v1/merchant/catalog/products', { slug: canary, name: canary, description: canary }],
    ['POST', '/v1/merchant/catalog/collections', { slug: canary, title: canary }],
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
