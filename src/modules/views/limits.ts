import type { Db } from '../../db/database.ts'
import * as affiliates from '../affiliates/service.ts'
import * as catalog from '../catalog/schema.ts'
import { METADATA_BYTES_MAX } from '../catalog/validate.ts'
import * as domains from '../domains/service.ts'
import type { Bound, Usage } from '../entitlements/limit-schema.ts'
import { listUsage } from '../entitlements/limits.ts'
import { ASSET_BYTES_MAX, FONT_BYTES_MAX } from '../media/schema.ts'
import * as media from '../media/service.ts'
import * as webhooks from '../webhooks/service.ts'

/** The bounds that apply to each product, order or other thing alone. Their routes refuse by the same constants. */
const BOUNDS: Bound[] = [
  ['variants_per_product', 'Variants of a product.', catalog.VARIANTS_PER_PRODUCT_MAX],
  ['options_per_variant', 'Options of a variant.', catalog.OPTIONS_MAX],
  ['images_per_product', 'Images of a product.', catalog.IMAGES_MAX],
  ['name_characters', 'Characters of a name, title or label.', catalog.NAME_LENGTH_MAX],
  ['description_characters', 'Characters of a description.', catalog.TEXT_LENGTH_MAX],
  ['metadata_bytes', 'Bytes of metadata, as JSON.', METADATA_BYTES_MAX],
  ['codes_per_affiliate', 'Referral codes of an affiliate.', affiliates.CODES_MAX],
  ['asset_bytes', 'Bytes of an uploaded image.', ASSET_BYTES_MAX],
  ['font_bytes', 'Bytes of an uploaded web font.', FONT_BYTES_MAX],
].map(([limit, description, max]) => ({ limit, description, max }) as Bound)

/** Lists all limits of a store: those on what it has in total, and those on each thing alone. */
export async function listLimits(db: Db, mediaBytesMax: number) {
  const [counted, hostnames, endpoints, bytes] = await Promise.all([
    listUsage(db),
    domains.countInUse(db),
    webhooks.countSubscriptions(db),
    media.readUsedBytes(db),
  ])
  const own = (limit: string, description: string, used: number, max: number): Usage => ({
    limit,
    description,
    used,
    max,
    source: 'default',
  })
  const limits = [
    ...counted,
    own('domains', 'Hostnames of the store.', hostnames, domains.DOMAINS_MAX),
    own('webhooks', 'Webhook endpoints.', endpoints, webhooks.SUBSCRIPTIONS_MAX),
    own('media_bytes', 'Bytes of images, deleted ones included for 30 days.', bytes, mediaBytesMax),
  ]
  return { limits, bounds: BOUNDS }
}
