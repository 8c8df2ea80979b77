import { mapViolations } from '../../db/constraints.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Actor } from '../../platform/audit.ts'
import { type MediaDeps, setAssetUses, storeAsset } from '../media/service.ts'
import * as stores from '../stores/service.ts'
import { announce } from './announce.ts'
import * as collections from './collection-queries.ts'
import { drawPicture } from './demo-pictures.ts'
import type { Sample } from './demo-products.ts'
import { HOME, type SampleSet } from './demo-sets.ts'
import { newProduct, newVariant } from './input.ts'
import * as queries from './queries.ts'

/** Stocks a draft store with samples. */
export async function seedDemo(db: TenantDb, media: MediaDeps, actor: Actor) {
  await requireDraft(db)
  return stock(db, media, { actor, set: HOME, check: requireDraft })
}

interface Stocking {
  actor: Actor
  set: SampleSet
  /** Looked at once more in the transaction that writes. */
  check?: (tx: Tx) => Promise<unknown>
}

/**
 * Those samples that a store lacks, all of them or none. What a merchant has made of a sample, also
 * in the archive, is left alone.
 */
export async function stock(db: TenantDb, media: MediaDeps, { actor, set, check }: Stocking) {
  const { currency } = await stores.get(db)
  const missing = await listMissing(db, set)
  const refs = new Map<string, string>()
  for (const sample of missing) {
    const asset = await storeAsset(db, media, {
      bytes: await draw(sample),
      contentType: 'image/jpeg',
      alt: sample.alt,
    })
    refs.set(sample.product.slug, asset.asset_ref)
  }
  return db.transaction('catalog: demo seed', async (tx) => {
    await queries.lockSeed(tx)
    await check?.(tx)
    let made = 0
    // The list is newest first, so the last of the samples is made first.
    for (const sample of (await listMissing(tx, set)).toReversed()) {
      const ref = refs.get(sample.product.slug)
      if (ref === undefined) continue
      await insertSample(tx, sample, { ref, currency })
      made += 1
    }
    const collections_created = await insertCollections(tx, set)
    const created = { products_created: made, collections_created }
    if (made + collections_created > 0) {
      const entity = `catalog:${tx.tenant}`
      await announce(tx, actor, { action: 'catalog.demo_seeded', entity, after: created })
    }
    return created
  })
}

const drawn = new Map<Sample, Promise<Buffer>>()

/** Each sample is drawn once, for all stores: a set takes a quarter of a megabyte. */
function draw(sample: Sample): Promise<Buffer> {
  const known = drawn.get(sample)
  if (known !== undefined) return known
  const drawing = drawPicture(sample.motif, sample.palette)
  drawn.set(sample, drawing)
  drawing.catch(() => drawn.delete(sample))
  return drawing
}

async function requireDraft(db: TenantDb | Tx) {
  const store = await stores.get(db)
  if (store.status !== 'draft') throw new ApiError('store_not_draft')
  return store
}

const slugsOf = ({ samples }: SampleSet) => samples.map(({ product }) => product.slug)

async function listMissing(db: TenantDb | Tx, set: SampleSet): Promise<Sample[]> {
  const taken = new Set((await queries.listSlugs(db, slugsOf(set))).map(({ slug }) => slug))
  return set.samples.filter(({ product }) => !taken.has(product.slug))
}

async function insertSample(
  tx: Tx,
  { product, variants, alt }: Sample,
  { ref, currency }: { ref: string; currency: string },
) {
  const codes = { products_slug: 'slug_exists', variants_sku: 'sku_exists' } as const
  const { id } = await mapViolations(queries.insertProduct(tx, newProduct(product)), codes)
  for (const variant of variants) {
    await mapViolations(queries.insertVariant(tx, id, newVariant(variant, currency)), codes)
  }
  await setAssetUses(tx, { kind: 'product', id }, [ref])
  await queries.insertImages(tx, id, [{ asset_ref: ref, alt }])
}

/** Those whose slug nobody has. Answers how many. */
async function insertCollections(tx: Tx, set: SampleSet): Promise<number> {
  const ids = new Map((await queries.listSlugs(tx, slugsOf(set))).map(({ id, slug }) => [slug, id]))
  let made = 0
  for (const { products, ...fields } of set.collections) {
    if (await collections.isSlugTaken(tx, fields.slug)) continue
    const { id } = await mapViolations(
      collections.insertCollection(tx, { ...fields, position: null }),
      {
        collections_slug: 'slug_exists',
      },
    )
    const members = products.flatMap((slug) => ids.get(slug) ?? [])
    await collections.insertMembers(tx, id, members)
    made += 1
  }
  return made
}
