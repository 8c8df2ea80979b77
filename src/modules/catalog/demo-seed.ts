import { mapViolations } from '../../db/constraints.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import type { Actor } from '../../platform/audit.ts'
import { type MediaDeps, setAssetUses, storeAsset } from '../media/service.ts'
import * as stores from '../stores/service.ts'
import * as collections from './collection-queries.ts'
import { IMAGE_TYPE } from './demo-images.ts'
import type { Sample } from './demo-products.ts'
import { HOME, type SampleSet } from './demo-sets.ts'
import { drawOnce, listImages } from './demo-views.ts'
import { refuse } from './errors.ts'
import { insertPastPrice } from './price-queries.ts'
import * as queries from './queries.ts'
import { recordChange } from './record-change.ts'
import type { StoredImage } from './schema.ts'
import { validateNewProduct, validateNewVariant } from './validate.ts'

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
    await queries.lockSeed(tx)
    await check?.(tx)
    let products_created = 0
    // Lists show the newest product first, so the last of the samples is inserted first.
    for (const sample of (await listMissing(tx, set)).toReversed()) {
      const stored = images.get(sample.product.slug)
      if (stored === undefined) continue
      await insertSample(tx, sample, { images: stored, currency })
      products_created += 1
    }
    const collections_created = await insertCollections(tx, set)
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

const slugsOf = ({ samples }: SampleSet) => samples.map(({ product }) => product.slug)

async function listMissing(db: TenantDb | Tx, set: SampleSet): Promise<Sample[]> {
  const taken = new Set((await queries.listSlugs(db, slugsOf(set))).map(({ slug }) => slug))
  return set.samples.filter(({ product }) => !taken.has(product.slug))
}

async function insertSample(
  tx: Tx,
  { product, variants }: Sample,
  { images, currency }: { images: readonly SampleShot[]; currency: string },
) {
  const codes = { products_slug: 'slug_exists', variants_sku: 'sku_exists' } as const
  const { id, is_subscription } = await mapViolations(
    queries.insertProduct(tx, validateNewProduct(product)),
    codes,
    refuse,
  )
  const context = { storeCurrency: currency, is_subscription, ownsImage: true }
  for (const variant of variants) {
    const shot = images.find(({ skus }) => skus.includes(variant.sku)) ?? images[0]
    const shown = { ...variant, image_asset_ref: shot?.asset_ref ?? null }
    const fields = validateNewVariant(shown, context)
    const { id: variantId } = await mapViolations(
      queries.insertVariant(tx, id, fields),
      codes,
      refuse,
    )
    // Samples that are reduced were dearer until now: else no shop to look at would show what a reduction looks like.
    const price_cents = fields.compare_at_price_cents
    if (price_cents === null) continue
    await insertPastPrice(tx, variantId, { price_cents, currency })
    await queries.setLowestPrice(tx, variantId, price_cents)
  }
  const refs = images.map(({ asset_ref }) => asset_ref)
  await setAssetUses(tx, { kind: 'product', id }, refs)
  await queries.insertImages(tx, id, images)
}

/** Inserts the collections whose slug is free. Returns how many. */
async function insertCollections(tx: Tx, set: SampleSet): Promise<number> {
  const ids = new Map((await queries.listSlugs(tx, slugsOf(set))).map(({ id, slug }) => [slug, id]))
  let inserted = 0
  for (const { products, ...fields } of set.collections) {
    if (await collections.isSlugTaken(tx, fields.slug)) continue
    const { id } = await mapViolations(
      collections.insertCollection(tx, { ...fields, position: null }),
      {
        collections_slug: 'slug_exists',
      },
      refuse,
    )
    const members = products.flatMap((slug) => ids.get(slug) ?? [])
    await collections.insertMembers(tx, id, members)
    inserted += 1
  }
  return inserted
}
