import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Caller } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWMQMgkDAAD4AJ2ZdwzOAAAAAElFTkSuQmCC'

/**
 * Another image, for products to use. An asset in use cannot be deleted, so `PIXEL` stays unused.
 */
export const SHOWN_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWM4kcwMAAMlAS9AfySPAAAAAElFTkSuQmCC'

export const SHOWN_HASH = createHash('sha256')
  .update(Buffer.from(SHOWN_PIXEL, 'base64'))
  .digest('hex')

/** The generated tests call their own store `acme`. */
export const ACME_IMAGE = { asset_ref: `asset:acme/${SHOWN_HASH}.png` }

export const newAsset = (alt: string) => ({ content_type: 'image/png', data_base64: PIXEL, alt })

async function uploadAsset(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/media', newAsset('a canary'))
  assert.ok(made.body.asset, made.text)
  return { sha256: made.body.asset.sha256 as string }
}

export const resources: Resources = {
  fixtures: {
    'GET /v1/merchant/media/:sha256': uploadAsset,
    'PATCH /v1/merchant/media/:sha256': uploadAsset,
    'DELETE /v1/merchant/media/:sha256': uploadAsset,
  },
  bodies: {
    'PATCH /v1/merchant/media/:sha256': { alt: 'a canary' },
  },
  texts: (canary) => [['POST', '/v1/merchant/media', newAsset(canary)]],
  rows: {
    asset_forms: `insert into asset_forms (tenant_ref, sha256, width, form_sha256, bytes)
                select tenant_ref, sha256, 160, sha256, 1 from assets where tenant_ref = $1`,
    asset_refs: `insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
               values ($1, repeat('a', 64), 'site', '1')`,
  },
}
