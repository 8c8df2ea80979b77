import type { Db, TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import type { Actor } from '../../platform/audit.ts'
import { parseAssetRef, setAssetUses } from '../media/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import { recordChange } from './record-change.ts'
import { IMAGES_MAX, type NewImage, type StoredImage } from './schema.ts'
import { change, get } from './service.ts'

/** An image with its alternative text: the one that is sent, else the one that the product has for it. */
function withAlt({ asset_ref, alt }: NewImage, before: readonly StoredImage[]): StoredImage {
  const known = before.find((each) => each.asset_ref === asset_ref)
  return { asset_ref, alt: alt === undefined ? (known?.alt ?? null) : alt }
}

const isOtherThan = (image: NewImage) => (each: StoredImage) => each.asset_ref !== image.asset_ref

/**
 * Sets the main image. An image that the product has already moves to the front; a new one replaces
 * the main image before it.
 */
export const setMain = (db: TenantDb, actor: Actor, id: string, image: NewImage) =>
  changeImages(db, actor, id, (before) => {
    const others = before.filter(isOtherThan(image))
    const isNew = others.length === before.length
    return [withAlt(image, before), ...(isNew ? before.slice(1) : others)]
  })

/**
 * Adds an image after the others. An image that the product has already keeps its place and gets
 * the new text.
 */
export const add = (db: TenantDb, actor: Actor, id: string, image: NewImage) =>
  changeImages(db, actor, id, (before) => {
    const one = withAlt(image, before)
    if (before.every(isOtherThan(image))) return [...before, one]
    return before.map((each) => (isOtherThan(image)(each) ? each : one))
  })

/** Sets the images of a product, in this order. */
export const setAll = (db: TenantDb, actor: Actor, id: string, images: readonly NewImage[]) =>
  changeImages(db, actor, id, (before) => {
    if (new Set(images.map(({ asset_ref }) => asset_ref)).size < images.length) {
      throw invalidBody('images', 'must name each asset only once')
    }
    return images.map((image) => withAlt(image, before))
  })

/** Removes an image from the product, by the hash in its name. The asset stays. */
export const remove = (db: TenantDb, actor: Actor, id: string, sha256: string) =>
  changeImages(db, actor, id, (before) => {
    const after = before.filter(
      ({ asset_ref }) => parseAssetRef(db.tenant, asset_ref)?.sha256 !== sha256,
    )
    if (after.length === before.length) throw refuse('image_not_found')
    return after
  })

type Rearrange = (before: readonly StoredImage[]) => StoredImage[]

function changeImages(db: TenantDb, actor: Actor, id: string, rearrange: Rearrange) {
  return change(db, 'catalog: change images', id, async (tx) => {
    const before = (await get(tx, id)).images
    const after = rearrange(before)
    if (after.length > IMAGES_MAX) throw refuse('image_limit_reached')
    const refs = after.map(({ asset_ref }) => asset_ref)
    await setAssetUses(tx, { kind: 'product', id }, refs)
    await queries.deleteImages(tx, id)
    await queries.insertImages(tx, id, after)
    await queries.clearVariantImages(tx, id, refs)
    await queries.touchProduct(tx, id)
    await recordChange(tx, actor, {
      action: 'product.images_changed',
      entity: `product:${id}`,
      before: { images: before },
      after: { images: after },
    })
  })
}

/** The image of each variant, by the variant's id: its own, else the main image of its product. */
export async function variantImages(
  db: Db,
  variant_ids: readonly string[],
): Promise<Map<string, string>> {
  const images = await queries.listVariantImages(db, variant_ids)
  return new Map(images.map(({ variant_id, asset_ref }) => [variant_id, asset_ref]))
}
