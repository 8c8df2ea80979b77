import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Actor } from '../../platform/audit.ts'
import * as queries from './collection-queries.ts'
import { refuse } from './errors.ts'
import { recordChange } from './record-change.ts'
import {
  type Collection,
  type CollectionPatch,
  LISTED_PRODUCTS,
  type NewCollection,
} from './schema.ts'
import { validateSlug } from './validate.ts'

const SLUG_EXISTS = { collections_slug: 'slug_exists' } as const

export function create(db: TenantDb, actor: Actor, request: NewCollection): Promise<Collection> {
  const { title, description = null, position = null } = request
  const fields = { slug: validateSlug(request.slug), title, description, position }
  return db.transaction('catalog: create collection', async (tx) => {
    const after = await mapViolations(queries.insertCollection(tx, fields), SLUG_EXISTS, refuse)
    await recordChange(tx, actor, { action: 'collection.created', entity: entityOf(after), after })
    return after
  })
}

/** Updates a collection. Only the members that are sent change. */
export function update(db: TenantDb, actor: Actor, id: string, patch: CollectionPatch) {
  return change(db, 'catalog: update collection', id, async (tx, before) => {
    const fields = {
      slug: patch.slug === undefined ? before.slug : validateSlug(patch.slug),
      title: patch.title ?? before.title,
      description: patch.description === undefined ? before.description : patch.description,
      position: patch.position ?? null,
    }
    const after = await mapViolations(queries.updateCollection(tx, id, fields), SLUG_EXISTS, refuse)
    await recordChange(tx, actor, {
      action: 'collection.updated',
      entity: entityOf(after),
      before,
      after,
    })
    return after
  })
}

/** Deletes a collection. Its products stay. */
export function remove(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'catalog: remove collection', id, async (tx, before) => {
    await queries.deleteCollection(tx, id)
    await recordChange(tx, actor, {
      action: 'collection.removed',
      entity: entityOf(before),
      before,
    })
    return before
  })
}

/**
 * Sets the products of a collection, in this order. One unknown product refuses the whole change.
 */
export function setMembers(db: TenantDb, actor: Actor, id: string, members: readonly string[]) {
  const ids = members.map((each) => each.toLowerCase())
  return change(db, 'catalog: set members', id, async (tx, before) => {
    if (!ids.every(isUuid)) throw refuse('product_not_found')
    const productIds = [...new Set(ids)]
    await queries.lockMemberProducts(tx, id, productIds)
    await queries.lockMembers(tx, id, productIds)
    await queries.deleteMembers(tx, id)
    const found = await queries.insertMembers(tx, id, productIds)
    if (found !== productIds.length) throw refuse('product_not_found')
    const after = await get(tx, id)
    await recordChange(tx, actor, {
      action: 'collection.members_set',
      entity: entityOf(after),
      before: { product_ids: before.product_ids },
      after: { product_ids: after.product_ids },
    })
    return after
  })
}

export async function get(db: Db, id: string): Promise<Collection> {
  const collection = isUuid(id) ? await queries.findCollection(db, id) : null
  if (collection === null) throw refuse('collection_not_found')
  return collection
}

/** Returns those of the products that are in one of the collections, whether they are on sale or not. */
export async function productsIn(
  db: Db,
  slugs: readonly string[],
  product_ids: readonly string[],
): Promise<Set<string>> {
  if (slugs.length === 0) return new Set()
  const found = await queries.listSlugsOf(db, product_ids)
  return new Set(
    found.filter(({ slug }) => slugs.includes(slug)).map(({ product_id }) => product_id),
  )
}

/** Lists the collections in the store's own order. */
export async function list(db: Db, page: Page) {
  const { rows, shown } = await queries.listCollections(db, page)
  return { collections: rows.map(listed), ...shown }
}

const listed = ({ product_ids, ...collection }: Collection) => ({
  ...collection,
  product_ids: product_ids.slice(0, LISTED_PRODUCTS),
  more_products: product_ids.length > LISTED_PRODUCTS,
})

const entityOf = ({ id }: Pick<Collection, 'id'>) => `collection:${id}`

/** Changes a collection under its lock, so that changes run one after the other. */
function change(
  db: TenantDb,
  name: string,
  id: string,
  apply: (tx: Tx, before: Collection) => Promise<Collection>,
): Promise<Collection> {
  return db.transaction(name, async (tx) => {
    if (isUuid(id)) await queries.lockCollection(tx, id)
    return apply(tx, await get(tx, id))
  })
}
