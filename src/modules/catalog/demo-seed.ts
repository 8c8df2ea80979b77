import { refusing } from '../../db/constraints.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Actor } from '../../platform/audit.ts'
import { claimAssets, keepAsset, type MediaDeps } from '../media/service.ts'
import * as stores from '../stores/service.ts'
import { announce } from './announce.ts'
import * as collections from './collection-queries.ts'
import { drawPicture } from './demo-pictures.ts'
import { SAMPLE_COLLECTIONS, SAMPLES, type Sample } from './demo-products.ts'
import { newProduct, newVariant } from './input.ts'
import * as queries from './queries.ts'

const SLUGS = SAMPLES.map(({ product }) => product.slug)

/**
 * Stocks a draft store with samples: those that it lacks, all of them or none. What a merchant has
 * made of a sample, also in the archive, is left alone.
 */
export async function seedDemo(db: TenantDb, media: MediaDeps, actor: Actor) {
  const { currency } = await requireDraft(db)
  const missing = await listMissing(db)
  const refs = new Map<string, string>()
  for (const sample of missing) {
    const asset = await keepAsset(db, media, await draw(sample), 'image/jpeg', sample.alt)
    refs.set(sample.product.slug, asset.asset_ref)
  }
  return db.transaction('catalog: demo seed', async (tx) => {
    await queries.lockSeed(tx)
    await requireDraft(tx)
    let made = 0
    // The list is newest first, so the last of the samples is made first.
    for (const sample of (await listMissing(tx)).toReversed()) {
      const ref = refs.get(sample.product.slug)
      if (ref === undefined) continue
      await insertSample(tx, sample, { ref, currency })
      made += 1
    }
    const collections_created = await insertCollections(tx)
    const created = { products_created: made, collections_created }
    if (made + collections_created > 0) {
      const entity = `catalog:${tx.tenant}`
      await announce(tx, actor, { action: 'catalog.demo_seeded', entity, after: created })
    }
    return created
  })
}

const drawn = new Map<Sample, Promise<Buffer>>()

/** Each sample is drawn once, for all stores: together they take a fifth of a megabyte. */
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

async function listMissing(db: TenantDb | Tx): Promise<Sample[]> {
  const taken = new Set((await queries.listSlugs(db, SLUGS)).map(({ slug }) => slug))
  return SAMPLES.filter(({ product }) => !taken.has(product.slug))
}

async function insertSample(
  tx: Tx,
  { product, variants, alt }: Sample,
  { ref, currency }: { ref: string; currency: string },
) {
  const codes = { products_slug: 'slug_exists', variants_sku: 'sku_exists' } as const
  const { id } = await refusing(queries.insertProduct(tx, newProduct(product)), codes)
  for (const variant of variants) {
    await refusing(queries.insertVariant(tx, id, newVariant(variant, currency)), codes)
  }
  await claimAssets(tx, { kind: 'product', id }, [ref])
  await queries.insertImages(tx, id, [{ asset_ref: ref, alt }])
}

/** Those whose slug nobody has. Answers how many. */
async function insertCollections(tx: Tx): Promise<number> {
  const ids = new Map((await queries.listSlugs(tx, SLUGS)).map(({ id, slug }) => [slug, id]))
  let made = 0
  for (const { products, ...fields } of SAMPLE_COLLECTIONS) {
    if (await collections.isSlugTaken(tx, fields.slug)) continue
    const { id } = await refusing(collections.insertCollection(tx, { ...fields, position: null }), {
      collections_slug: 'slug_exists',
    })
    const members = products.flatMap((slug) => ids.get(slug) ?? [])
    await collections.insertMembers(tx, id, members)
    made += 1
  }
  return made
}
