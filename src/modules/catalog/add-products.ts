import { mapViolations } from '../../db/constraints.ts'
import type { Db, Tx } from '../../db/database.ts'
import { setAssetUses } from '../media/service.ts'
import * as collections from './collection-queries.ts'
import { refuse } from './errors.ts'
import { insertPastPrice } from './price-queries.ts'
import * as queries from './queries.ts'
import type { NewProduct, NewVariant, StoredImage } from './schema.ts'
import { validateNewProduct, validateNewVariant } from './validate.ts'

/** Adds whole products and collections in the transaction of the caller, who records the change. */

/** A product with its variants and images. The files of the images are stored already. */
export interface WholeProduct {
  product: NewProduct
  variants: readonly NewVariant[]
  images: readonly StoredImage[]
}

export interface WholeCollection {
  slug: string
  title: string
  description: string
  /** The slugs of its products. */
  products: readonly string[]
}

/** Lists those of the slugs that products of the store have, archived products included. */
export async function listTakenSlugs(db: Db, slugs: readonly string[]): Promise<Set<string>> {
  return new Set((await queries.listSlugs(db, slugs)).map(({ slug }) => slug))
}

/**
 * Adds a product with its variants and images. A variant that is reduced was dearer until now: else
 * its store could not show what it is reduced from.
 */
export async function addProduct(
  tx: Tx,
  { product, variants, images }: WholeProduct,
  currency: string,
): Promise<void> {
  const codes = { products_slug: 'slug_exists', variants_sku: 'sku_exists' } as const
  const { id, is_subscription } = await mapViolations(
    queries.insertProduct(tx, validateNewProduct(product)),
    codes,
    refuse,
  )
  const context = { storeCurrency: currency, is_subscription, ownsImage: true }
  for (const variant of variants) {
    const fields = validateNewVariant(variant, context)
    const { id: variantId } = await mapViolations(
      queries.insertVariant(tx, id, fields),
      codes,
      refuse,
    )
    const price_cents = fields.compare_at_price_cents
    if (price_cents === null) continue
    await insertPastPrice(tx, variantId, { price_cents, currency })
    await queries.setLowestPrice(tx, variantId, price_cents)
  }
  const refs = images.map(({ asset_ref }) => asset_ref)
  await setAssetUses(tx, { kind: 'product', id }, refs)
  await queries.insertImages(tx, id, images)
}

/** Adds the collections whose slug is free. Returns how many. */
export async function addCollections(tx: Tx, list: readonly WholeCollection[]): Promise<number> {
  const slugs = list.flatMap(({ products }) => products)
  const ids = new Map((await queries.listSlugs(tx, slugs)).map(({ id, slug }) => [slug, id]))
  let added = 0
  for (const { products, ...fields } of list) {
    if (await collections.isSlugTaken(tx, fields.slug)) continue
    const { id } = await mapViolations(
      collections.insertCollection(tx, { ...fields, position: null }),
      { collections_slug: 'slug_exists' },
      refuse,
    )
    await collections.insertMembers(
      tx,
      id,
      products.flatMap((slug) => ids.get(slug) ?? []),
    )
    added += 1
  }
  return added
}
