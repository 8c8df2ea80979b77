import { mapViolations } from '../../db/constraints.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { Actor } from '../../platform/audit.ts'
import { announce } from './announce.ts'
import * as queries from './collection-queries.ts'
import { checkSlug } from './input.ts'
import type { Collection, CollectionPatch, NewCollection } from './schema.ts'

const SLUG_TAKEN = { collections_slug: 'slug_exists' } as const

export function create(db: TenantDb, actor: Actor, given: NewCollection): Promise<Collection> {
  const { title, description = null, position = null } = given
  const fields = { slug: checkSlug(given.slug), title, description, position }
  return db.transaction('catalog: create collection', async (tx) => {
    const after = await mapViolations(queries.insertCollection(tx, fields), SLUG_TAKEN)
    await announce(tx, actor, { action: 'collection.created', entity: nameOf(after), after })
    return after
  })
}

/** Changes only what is sent. */
export function update(db: TenantDb, actor: Actor, id: string, patch: CollectionPatch) {
  return change(db, 'catalog: update collection', id, async (tx, before) => {
    const fields = {
      slug: patch.slug === undefined ? before.slug : checkSlug(patch.slug),
      title: patch.title ?? before.title,
      description: patch.description === undefined ? before.description : patch.description,
      position: patch.position ?? null,
    }
    const after = await mapViolations(queries.updateCollection(tx, id, fields), SLUG_TAKEN)
    await announce(tx, actor, {
      action: 'collection.updated',
      entity: nameOf(after),
      before,
      after,
    })
    return after
  })
}

/** Ends a collection. Its products stay. */
export function remove(db: TenantDb, actor: Actor, id: string) {
  return change(db, 'catalog: remove collection', id, async (tx, before) => {
    await queries.deleteCollection(tx, id)
    await announce(tx, actor, { action: 'collection.removed', entity: nameOf(before), before })
    return before
  })
}

/** Says which products the collection holds, in this order. All of them, or none is changed. */
export function setMembers(db: TenantDb, actor: Actor, id: string, given: readonly string[]) {
  const ids = given.map((each) => each.toLowerCase())
  return change(db, 'catalog: set members', id, async (tx, before) => {
    if (!ids.every(isUuid)) throw new ApiError('product_not_found')
    const wanted = [...new Set(ids)]
    await queries.lockMembers(tx, id, wanted)
    await queries.deleteMembers(tx, id)
    const found = await queries.insertMembers(tx, id, wanted)
    if (found !== wanted.length) throw new ApiError('product_not_found')
    const after = await get(tx, id)
    await announce(tx, actor, {
      action: 'collection.members_set',
      entity: nameOf(after),
      before: { product_ids: before.product_ids },
      after: { product_ids: after.product_ids },
    })
    return after
  })
}

export async function get(db: Db, id: string): Promise<Collection> {
  const collection = isUuid(id) ? await queries.findCollection(db, id) : null
  if (collection === null) throw new ApiError('collection_not_found')
  return collection
}

/** In the store's own order. */
export async function list(db: Db, page: Page) {
  const [collections, { total }] = await Promise.all([
    queries.listCollections(db, page),
    queries.countCollections(db),
  ])
  return { collections, total, ...page }
}

const nameOf = ({ id }: Pick<Collection, 'id'>) => `collection:${id}`

/** The changes of one collection follow one another. */
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
