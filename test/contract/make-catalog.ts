import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'
import { makeVariant as plantVariant } from '../harness/variants.ts'
import { VARIANT } from './ids.ts'
import { allowFeature } from './make-store.ts'

/** Makes products with their images, and what changes their prices. */

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWMQMgkDAAD4AJ2ZdwzOAAAAAElFTkSuQmCC'

/**
 * Another image, for products to use. An asset in use cannot be deleted, so `PIXEL` stays unused.
 */
const SHOWN_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWM4kcwMAAMlAS9AfySPAAAAAElFTkSuQmCC'
export const SHOWN_HASH = createHash('sha256')
  .update(Buffer.from(SHOWN_PIXEL, 'base64'))
  .digest('hex')

/** The generated tests call their own store `acme`. */
export const ACME_IMAGE = { asset_ref: `asset:acme/${SHOWN_HASH}.png` }

export const COUPONS = '/v1/merchant/marketing/coupons'
export const GROUPS = '/v1/merchant/pricing-groups'

export const newAsset = (alt: string) => ({ content_type: 'image/png', data_base64: PIXEL, alt })

export async function uploadAsset(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/media', newAsset('a canary'))
  assert.ok(made.body.asset, made.text)
  return { sha256: made.body.asset.sha256 as string }
}

/** A product, and an asset that can be its image. */
export async function makeProduct(merchant: Caller) {
  const picture = { content_type: 'image/png', data_base64: SHOWN_PIXEL }
  await merchant.post('/v1/merchant/media', picture)
  const body = { slug: randomUUID(), name: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/products', body)
  assert.ok(made.body.product, made.text)
  return { id: made.body.product.id as string }
}

export async function makeDraft(merchant: Caller) {
  const body = { slug: randomUUID(), name: 'a canary', status: 'draft' }
  const made = await merchant.post('/v1/merchant/catalog/products', body)
  assert.ok(made.body.product, made.text)
  return { id: made.body.product.id as string }
}

export async function makeVariant(merchant: Caller) {
  const { id } = await makeProduct(merchant)
  const body = { sku: randomUUID(), price_cents: 1 }
  const made = await merchant.post(`/v1/merchant/catalog/products/${id}/variants`, body)
  assert.ok(made.body.variant, made.text)
  return { id, variantId: made.body.variant.id as string }
}

export async function makeCollection(merchant: Caller) {
  const body = { slug: randomUUID(), title: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/collections', body)
  assert.ok(made.body.collection, made.text)
  return { id: made.body.collection.id as string }
}

export async function makeCoupon(merchant: Caller) {
  const body = { code: randomUUID(), type: 'fixed', amount_cents: 100 }
  const made = await merchant.post(COUPONS, body)
  assert.ok(made.body.coupon, made.text)
  return { id: made.body.coupon.id as string }
}

export async function makeGroup(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'pricing_groups')
  await plantVariant(await app.store('acme'), VARIANT)
  const made = await merchant.post(GROUPS, { name: 'a canary' })
  assert.ok(made.body.pricing_group, made.text)
  return { id: made.body.pricing_group.id as string }
}
