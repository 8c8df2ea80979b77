import type { TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Actor } from '../../platform/audit.ts'
import { parseAssetRef, setAssetUses } from '../media/service.ts'
import { announce } from './announce.ts'
import * as queries from './queries.ts'
import { IMAGES_MAX, type KeptImage, type NewImage } from './schema.ts'
import { change, get } from './service.ts'

/** With the words that the product has for it, unless others (or none) are sent. */
function kept({ asset_ref, alt }: NewImage, before: readonly KeptImage[]): KeptImage {
  const known = before.find((each) => each.asset_ref === asset_ref)
  return { asset_ref, alt: alt === undefined ? (known?.alt ?? null) : alt }
}

const isOther = (image: NewImage) => (each: KeptImage) => each.asset_ref !== image.asset_ref

/**
 * Makes a picture the main one. One that the product has already comes to the front; a new one
 * takes the place of the main picture before it.
 */
export const setMain = (db: TenantDb, actor: Actor, id: string, image: NewImage) =>
  changeImages(db, actor, id, (before) => {
    const others = before.filter(isOther(image))
    const isNew = others.length === before.length
    return [kept(image, before), ...(isNew ? before.slice(1) : others)]
  })

/**
 * Puts a picture behind the others. One that the product has stays where it is, with the new words.
 */
export const add = (db: TenantDb, actor: Actor, id: string, image: NewImage) =>
  changeImages(db, actor, id, (before) => {
    const one = kept(image, before)
    if (before.every(isOther(image))) return [...before, one]
    return before.map((each) => (isOther(image)(each) ? each : one))
  })

/** Says which pictures the product has, in this order. */
export const setAll = (db: TenantDb, actor: Actor, id: string, images: readonly NewImage[]) =>
  changeImages(db, actor, id, (before) => {
    if (new Set(images.map(({ asset_ref }) => asset_ref)).size < images.length) {
      throw invalidBody('images', 'must name each asset only once')
    }
    return images.map((image) => kept(image, before))
  })

/** Takes a picture from the product, by the hash in its name. The asset stays. */
export const remove = (db: TenantDb, actor: Actor, id: string, sha256: string) =>
  changeImages(db, actor, id, (before) => {
    const after = before.filter(
      ({ asset_ref }) => parseAssetRef(db.tenant, asset_ref)?.sha256 !== sha256,
    )
    if (after.length === before.length) throw new ApiError('image_not_found')
    return after
  })

type Rearrange = (before: readonly KeptImage[]) => KeptImage[]

function changeImages(db: TenantDb, actor: Actor, id: string, rearrange: Rearrange) {
  return change(db, 'catalog: change images', id, async (tx) => {
    const before = (await get(tx, id)).images
    const after = rearrange(before)
    if (after.length > IMAGES_MAX) throw new ApiError('image_limit_reached')
    const refs = after.map(({ asset_ref }) => asset_ref)
    await setAssetUses(tx, { kind: 'product', id }, refs)
    await queries.deleteImages(tx, id)
    await queries.insertImages(tx, id, after)
    await queries.touchProduct(tx, id)
    await announce(tx, actor, {
      action: 'product.images_changed',
      entity: `product:${id}`,
      before: { images: before },
      after: { images: after },
    })
  })
}
