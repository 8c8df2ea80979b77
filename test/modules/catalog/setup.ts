import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Caller, openTestApp, type TestApp, type TestAppOptions } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { plain } from '../media/sample-images.ts'

export const PRODUCTS = '/v1/merchant/catalog/products'
export const COLLECTIONS = '/v1/merchant/catalog/collections'

export const publicUrl = (tenant: string, rest = 'products') =>
  `/v1/tenants/${tenant}/catalog/${rest}`

export async function setStatus(app: TestApp, tenant: string, status: string) {
  const answer = await app.operator.put(`/v1/stores/${tenant}/status`, { status })
  assert.equal(answer.status, 200, answer.text)
}

/** A live store, and its merchant. */
export async function openLiveStore(app: TestApp, tenant: string): Promise<Caller> {
  const merchant = await app.merchant(tenant)
  await merchant.put('/v1/my/store/manifest', { manifest: { brand: { name: tenant } } })
  await setStatus(app, tenant, 'live')
  return merchant
}

/** An app whose live cache answers public reads. */
export async function openCachingApp(t: TestContext, options: TestAppOptions = {}) {
  const app = await openTestApp(t, { ...options, live: true })
  await until('kept', () => app.runtime.cache.trusted)
  return app
}

export async function createProduct(merchant: Caller, slug: string, more: object = {}) {
  const { status, body, text } = await merchant.post(PRODUCTS, { slug, name: slug, ...more })
  assert.equal(status, 201, text)
  return body.product as { id: string; slug: string } & Record<string, unknown>
}

export async function createVariant(merchant: Caller, productId: string, body: object) {
  const made = await merchant.post(`${PRODUCTS}/${productId}/variants`, body)
  assert.equal(made.status, 201, made.text)
  return made.body.variant as { id: string; sku: string } & Record<string, unknown>
}

/** Uploads an image of one colour, and returns its name. */
export async function uploadImage(merchant: Caller, shade: number): Promise<string> {
  const data_base64 = (await plain('png', shade)).toString('base64')
  const made = await merchant.post('/v1/merchant/media', { content_type: 'image/png', data_base64 })
  assert.equal(made.status, 201, made.text)
  return made.body.asset.asset_ref
}

export const shaOf = (ref: string) => /([0-9a-f]{64})/.exec(ref)?.[1] ?? ''

export async function createCollection(merchant: Caller, slug: string, productIds: string[] = []) {
  const made = await merchant.post(COLLECTIONS, { slug, title: `The ${slug}` })
  assert.equal(made.status, 201, made.text)
  const { id } = made.body.collection as { id: string }
  if (productIds.length > 0) {
    const set = await merchant.put(`${COLLECTIONS}/${id}/products`, { product_ids: productIds })
    assert.equal(set.status, 200, set.text)
  }
  return made.body.collection as { id: string; slug: string }
}

export async function auditOf(app: TestApp, tenant: string, action: string) {
  const { body } = await app.operator.get(`/v1/stores/${tenant}/audit?action=${action}`)
  return body.entries as {
    actor: string
    entity: string
    before: Record<string, unknown> | null
    after: Record<string, unknown> | null
  }[]
}
