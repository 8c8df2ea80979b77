import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { ACME_IMAGE, SHOWN_HASH, SHOWN_PIXEL } from '../media/resources.ts'

/** A product, and an asset that can be its image. */
async function makeProduct(merchant: Caller) {
  const picture = { content_type: 'image/png', data_base64: SHOWN_PIXEL }
  await merchant.post('/v1/merchant/media', picture)
  const body = { slug: randomUUID(), name: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/products', body)
  assert.ok(made.body.product, made.text)
  return { id: made.body.product.id as string }
}

async function makeDraft(merchant: Caller) {
  const body = { slug: randomUUID(), name: 'a canary', status: 'draft' }
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

const COLLECTIONS = '/v1/merchant/catalog/collections'

/** Adds a variant to a new product. */
export async function addVariant(merchant: Caller) {
  const { id } = await makeProduct(merchant)
  const body = { sku: randomUUID(), price_cents: 1 }
  return merchant.post(`/v1/merchant/catalog/products/${id}/variants`, body)
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/catalog/products/:id': makeProduct,
    'PATCH /v1/merchant/catalog/products/:id': makeProduct,
    'POST /v1/merchant/catalog/products/:id/activation-request': makeDraft,
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
  },
  bodies: {
    'PATCH /v1/merchant/catalog/products/:id': { name: 'a canary' },
    'POST /v1/merchant/catalog/products/:id/variants': { sku: 'canary', price_cents: 1 },
    'PATCH /v1/merchant/catalog/products/:id/variants/:variantId': { price_cents: 2 },
    'PUT /v1/merchant/catalog/products/:id/image': ACME_IMAGE,
    'POST /v1/merchant/catalog/products/:id/images': ACME_IMAGE,
    'PUT /v1/merchant/catalog/products/:id/images': { images: [ACME_IMAGE] },
    'PATCH /v1/merchant/catalog/collections/:id': { title: 'a canary' },
    'PUT /v1/merchant/catalog/collections/:id/products': { product_ids: [] },
  },
  texts: (canary) => [
    ['POST', '/v1/merchant/catalog/products', { slug: canary, name: canary, description: canary }],
    ['POST', '/v1/merchant/catalog/collections', { slug: canary, title: canary }],
  ],
  rows: {
    activation_requests: `insert into activation_requests (tenant_ref, product_id, requested_by)
                        select tenant_ref, id, 'test' from products where tenant_ref = $1 limit 1`,
    collection_products: `insert into collection_products (tenant_ref, collection_id, product_id, position)
                        select tenant_ref, c.id, p.id, 1
                          from collections c join products p using (tenant_ref)
                         where tenant_ref = $1`,
    product_images: `insert into product_images (tenant_ref, product_id, asset_ref, position)
                   select tenant_ref, id, 'asset:x', 1 from products where tenant_ref = $1`,
    variants: `insert into variants (tenant_ref, product_id, sku, price_cents, currency)
             select tenant_ref, id, gen_random_uuid(), 1, 'USD' from products where tenant_ref = $1`,
    past_prices: `insert into past_prices (tenant_ref, variant_id, price_cents, currency)
                select tenant_ref, id, 100, currency from variants where tenant_ref = $1`,
  },
  beyond: {
    variants: addVariant,
    collections: (merchant) => merchant.post(COLLECTIONS, { slug: randomUUID(), title: 'C' }),
    collection_bytes: (merchant) => merchant.post(COLLECTIONS, { slug: randomUUID(), title: 'C' }),
  },
}
