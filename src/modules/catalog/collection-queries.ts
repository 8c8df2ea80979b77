import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { Collection, LISTED_PRODUCTS } from './schema.ts'

const fields = sql`
  collections.id, tenant_ref, slug, title, description, collections.position,
  collections.created_at, updated_at`

const columns = sql`
  ${fields},
  (select coalesce(json_agg(m.product_id order by m.position), '[]')
     from collection_products m
    where m.tenant_ref = collections.tenant_ref and m.collection_id = collections.id) as product_ids`

/** One product more than a list shows reveals whether there are more. */
const listedColumns = sql`
  ${fields},
  (select coalesce(json_agg(m.product_id order by m.position, m.product_id), '[]')
     from (select product_id, position
             from collection_products
            where tenant_ref = collections.tenant_ref and collection_id = collections.id
            order by position, product_id
            limit ${LISTED_PRODUCTS + 1}) as m) as product_ids`

export type CollectionFields = Pick<Collection, 'slug' | 'title' | 'description'> & {
  /** Null: after the others. */
  position: number | null
}

export const insertCollection = (db: Db, row: CollectionFields) =>
  db.one(
    Collection,
    sql`
    insert into collections (tenant_ref, slug, title, description, position)
    select ${db.tenant}, ${row.slug}, ${row.title}, ${row.description},
           coalesce(${row.position}::integer, least(coalesce(max(position) + 1, 0), 1000000))
      from collections
     where tenant_ref = ${db.tenant}
    returning ${columns}`,
  )

export const findCollection = (db: Db, id: string) =>
  db.maybe(
    Collection,
    sql`select ${columns} from collections where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** Lists the slugs of the collections that each of the products is in. */
export const listSlugsOf = (db: Db, product_ids: readonly string[]) =>
  db.many(
    Type.Object({ product_id: Id, slug: Type.String() }),
    sql`
    select m.product_id, c.slug
      from collection_products m
      join collections c on c.tenant_ref = m.tenant_ref and c.id = m.collection_id
     where m.tenant_ref = ${db.tenant} and m.product_id = any (${product_ids}::uuid[])`,
  )

/** Locks a collection against other changes. */
export const lockCollection = (tx: Tx, id: string) =>
  tx.run(sql`
    select from collections where tenant_ref = ${tx.tenant} and id = ${id} for no key update`)

export const listCollections = (db: Db, page: Page) =>
  readList(
    db,
    {
      shape: Collection,
      table: sql`collections`,
      as: sql`collections`,
      scope: sql`collections.tenant_ref = ${db.tenant}`,
      filters: [],
      key: [
        { name: sql`position`, type: 'integer' },
        { name: sql`created_at`, type: 'timestamp' },
        { name: sql`id`, type: 'uuid' },
      ],
      descending: false,
      columns: listedColumns,
    },
    page,
  )

export const updateCollection = (tx: Tx, id: string, row: CollectionFields) =>
  tx.one(
    Collection,
    sql`
    update collections
       set slug = ${row.slug}, title = ${row.title}, description = ${row.description},
           position = coalesce(${row.position}::integer, position), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

/** Deletes a collection and its memberships. The products stay. */
export const deleteCollection = (tx: Tx, id: string) =>
  tx.run(sql`delete from collections where tenant_ref = ${tx.tenant} and id = ${id}`)

const membersOf = (tx: Tx, id: string, productIds: readonly string[]) => sql`
  select m.product_id
    from collection_products m
   where m.tenant_ref = ${tx.tenant} and m.collection_id = ${id}
   union all select unnest(${productIds}::uuid[])`

/**
 * Locks all products that are in the collection or will be, so that their status stays: a change of status writes to
 * their memberships and search rows, in another order than a change of the members does.
 */
export const lockMemberProducts = (tx: Tx, id: string, productIds: readonly string[]) =>
  tx.run(sql`
    select from products
     where tenant_ref = ${tx.tenant} and id in (${membersOf(tx, id, productIds)})
     order by id
       for share`)

/**
 * Locks the search rows of all products that are in the collection or will be. Removing some
 * members and adding others writes to these rows in two statements: without the lock, two
 * collections that exchange products would deadlock.
 */
export const lockMembers = (tx: Tx, id: string, productIds: readonly string[]) =>
  tx.run(sql`
    select from product_search
     where tenant_ref = ${tx.tenant} and product_id in (${membersOf(tx, id, productIds)})
     order by product_id
       for update`)

export const deleteMembers = (tx: Tx, id: string) =>
  tx.run(sql`
    delete from collection_products where tenant_ref = ${tx.tenant} and collection_id = ${id}`)

/** Inserts the members in this order. Returns how many of the products exist. */
export const insertMembers = (tx: Tx, id: string, productIds: readonly string[]) =>
  tx.run(sql`
    insert into collection_products (tenant_ref, collection_id, product_id, position)
    select ${tx.tenant}, ${id}, p.id, given.place
      from unnest(${productIds}::uuid[]) with ordinality given (id, place)
      join products p on p.tenant_ref = ${tx.tenant} and p.id = given.id`)

export const isSlugTaken = async (db: Db, slug: string) =>
  (await db.run(sql`select from collections where tenant_ref = ${db.tenant} and slug = ${slug}`)) >
  0
