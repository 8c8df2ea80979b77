import type { TenantDb, Tx } from '../../db/database.ts'
import type { Actor } from '../../platform/audit.ts'
import {
  addCollections,
  addProduct,
  listTakenSlugs,
  type WholeProduct,
} from '../catalog/add-products.ts'
import { recordChange } from '../catalog/record-change.ts'
import type { StoredImage } from '../catalog/schema.ts'
import { type MediaDeps, storeAsset } from '../media/service.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import { IMAGE_TYPE } from './images.ts'
import type { Sample } from './products.ts'
import { lockSeed } from './queries.ts'
import { HOME, type SampleSet } from './sets.ts'
import { drawOnce, listImages } from './views.ts'

/** Adds the sample products and collections to a draft store. */
export async function seedDemo(db: TenantDb, media: MediaDeps, actor: Actor) {
  await requireDraft(db)
  return addSamples(db, media, { actor, set: HOME, check: requireDraft })
}

interface SampleRequest {
  actor: Actor
  set: SampleSet
  /** How many images the product with that slug gets; all of them by default. */
  imagesMax?: ((slug: string) => number) | undefined
  /** Runs once more in the transaction that writes. */
  check?: (tx: Tx) => Promise<unknown>
}

/**
 * Adds the samples that a store lacks, all of them or none. A sample that the merchant has changed
 * or archived stays as it is.
 */
export async function addSamples(
  db: TenantDb,
  media: MediaDeps,
  { actor, set, imagesMax, check }: SampleRequest,
) {
  const { currency } = await stores.get(db)
  const missing = await listMissing(db, set)
  const images = new Map<string, SampleShot[]>()
  for (const sample of missing) {
    const { slug } = sample.product
    const pictures = listImages(sample, set.style).slice(0, imagesMax?.(slug))
    const stored = await Promise.all(pictures.map((each) => storeImage(db, media, each)))
    images.set(slug, stored)
  }
  return db.transaction('catalog: demo seed', async (tx) => {
    await lockSeed(tx)
    await check?.(tx)
    let products_created = 0
    // Lists show the newest product first, so the last of the samples is inserted first.
    for (const sample of (await listMissing(tx, set)).toReversed()) {
      const stored = images.get(sample.product.slug)
      if (stored === undefined) continue
      await addProduct(tx, withImages(sample, stored), currency)
      products_created += 1
    }
    const collections_created = await addCollections(tx, set.collections)
    const created = { products_created, collections_created }
    if (products_created + collections_created > 0) {
      const entity = `catalog:${tx.tenant}`
      await recordChange(tx, actor, { action: 'catalog.demo_seeded', entity, after: created })
    }
    return created
  })
}

/** A stored image of a sample, with the variants that it shows. */
type SampleShot = StoredImage & { skus: readonly string[] }

async function storeImage(
  db: TenantDb,
  media: MediaDeps,
  image: ReturnType<typeof listImages>[number],
): Promise<SampleShot> {
  const { alt, skus } = image
  const bytes = await drawOnce(image)
  const { asset_ref } = await storeAsset(db, media, { bytes, contentType: IMAGE_TYPE, alt })
  return { asset_ref, alt, skus }
}

async function requireDraft(db: TenantDb | Tx) {
  const store = await stores.get(db)
  if (store.status !== 'draft') throw refuse('store_not_draft')
  return store
}

async function listMissing(db: TenantDb | Tx, set: SampleSet): Promise<Sample[]> {
  const slugs = set.samples.map(({ product }) => product.slug)
  const taken = await listTakenSlugs(db, slugs)
  return set.samples.filter(({ product }) => !taken.has(product.slug))
}

/** A sample whose files are stored. Each variant shows the image that is made for it, else the first. */
function withImages({ product, variants }: Sample, images: readonly SampleShot[]): WholeProduct {
  const shown = variants.map((variant) => {
    const shot = images.find(({ skus }) => skus.includes(variant.sku)) ?? images[0]
    return { ...variant, image_asset_ref: shot?.asset_ref ?? null }
  })
  return { product, variants: shown, images }
}
