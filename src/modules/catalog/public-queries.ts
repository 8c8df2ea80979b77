import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { microsecondsOf, timeOf } from '../../db/list.ts'
import { jsonTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable, OpenObject } from '../../kernel/schema.ts'
import * as stores from '../stores/service.ts'
import type { ListPlace } from './list-schema.ts'
import {
  PublicProduct,
  SaleVariant,
  SitemapProduct,
  StorefrontCollection,
  VariantNames,
} from './schema.ts'

/** The public members of the product `p`, as one JSON value. */
export const publicProduct: Sql = sql`
  json_build_object(
    'id', p.id, 'tenant_ref', p.tenant_ref, 'slug', p.slug, 'name', p.name,
    'description', p.description, 'status', p.status, 'is_subscription', p.is_subscription,
    'subscription_interval', p.subscription_interval,
    'subscription_interval_count', p.subscription_interval_count,
    'subscription_price_cents', p.subscription_price_cents,
    'images', (select coalesce(json_agg(json_build_object('asset_ref', i.asset_ref, 'alt', i.alt)
                                        order by i.position), '[]')
                 from product_images i
                where i.tenant_ref = p.tenant_ref and i.product_id = p.id),
    'variants', (select coalesce(json_agg(json_build_object(
                                   'id', v.id, 'tenant_ref', v.tenant_ref,
                                   'product_id', v.product_id, 'sku', v.sku, 'label', v.label,
                                   'options', v.options, 'image_asset_ref', v.image_asset_ref,
                                   'price_cents', v.price_cents,
                                   'compare_at_price_cents',
                                   case when v.compare_at_price_cents > v.price_cents
                                        then v.compare_at_price_cents end,
                                   'lowest_price_30_days_cents',
                                   case when v.compare_at_price_cents > v.price_cents
                                        then v.lowest_price_30_days_cents end,
                                   'currency', v.currency, 'content_amount', v.content_amount,
                                   'content_unit', v.content_unit, 'gift_card', v.gift_card)
                                 order by v.position, v.created_at, v.id), '[]')
                   from variants v
                  where v.tenant_ref = p.tenant_ref and v.product_id = p.id
                    and v.archived_at is null))`

const publicCollection = sql`
  json_build_object('slug', c.slug, 'title', c.title, 'description', c.description)`

/**
 * The products of a page in order, each with its version: `xmin`, which every change of a product,
 * its variants or its images renews.
 */
const Chosen = Type.Object({
  total: Type.Integer(),
  id: Nullable(Id),
  version: Nullable(Type.String()),
  at: Nullable(Type.Integer()),
})

/** The rows of a page. The limit is one more than the page shows, to know whether more follow. */
export interface PageRange {
  after: ListPlace | null
  before: ListPlace | null
  limit: number
  /** All rows instead, if there are no more than this. */
  wholeUpTo: number
  /** Rows beyond this number are not counted. */
  countUpTo: number
}

const rangeOfTimes = ({ after, before }: PageRange) => {
  if (after !== null)
    return sql`and (p.created_at, p.id) < (${timeOf(after.at)}, ${after.id}::uuid)`
  if (before === null) return sql``
  return sql`and (p.created_at, p.id) > (${timeOf(before.at)}, ${before.id}::uuid)`
}

/** The limit of a page: all rows where the whole list is wanted and small enough. */
const limitOf = ({ limit, wholeUpTo }: PageRange) =>
  sql`(select case when total <= ${wholeUpTo}::integer then ${wholeUpTo}::integer
                   else ${limit}::integer end from counted)`

/**
 * Chooses the active products of a page, newest first; no row unless the store is live. A page before a place ends next
 * to it.
 */
export function choosePublicProducts(db: Db, range: PageRange) {
  const order = range.before === null ? sql`desc` : sql`asc`
  return db.many(
    Chosen,
    sql`
    with counted as materialized (
      select count(*) as total
        from (select
                from products p
               where p.tenant_ref = ${db.tenant} and p.status = 'active'
               limit ${range.countUpTo}) rows)
    select counted.total, page.id, page.version, page.at
      from ${stores.liveStore(db)}
     cross join counted
      left join lateral (
        select p.id, p.xmin::text as version, p.created_at, ${microsecondsOf(sql`p.created_at`)} as at
          from products p
         where p.tenant_ref = ${db.tenant} and p.status = 'active' ${rangeOfTimes(range)}
         order by p.created_at ${order}, p.id ${order}
         limit ${limitOf(range)}) page on true
     order by page.created_at desc, page.id desc`,
  )
}

/** Chooses the products that sell these variants, each once; no row unless the store is live. */
export const choosePublicProductsOf = (db: Db, variantIds: readonly string[]) =>
  db.many(
    Chosen,
    sql`
    select count(page.id) over () as total, page.id, page.version, null::bigint as at
      from ${stores.liveStore(db)}
      left join (
        select p.id, p.xmin::text as version
          from products p
         where p.tenant_ref = ${db.tenant} and p.status = 'active'
           and p.id in (select v.product_id
                          from unnest(${variantIds}::uuid[]) as wanted (id)
                         cross join lateral (
                               select product_id
                                 from variants
                                where tenant_ref = ${db.tenant} and id = wanted.id
                                  and archived_at is null
                                limit 1) as v)) page on true`,
  )

/** A product in more collections than this is shown with the first of them. */
const COLLECTIONS_OF_PRODUCT = 50

/** The collections of a product, by an index, in the store's own order. */
const collectionsOf = (db: Db, productId: Sql, limit: number) => sql`
  select c.id, c.slug, c.title, c.description, m.position,
         row_number() over (order by c.position, c.created_at, c.id) as place
    from (select collection_id, position
            from collection_products
           where tenant_ref = ${db.tenant} and product_id = ${productId}
           limit ${COLLECTIONS_OF_PRODUCT}) m
    join collections c on c.tenant_ref = ${db.tenant} and c.id = m.collection_id
   order by c.position, c.created_at, c.id
   limit ${limit}`

/** Members of the collections of `shared` after or before the product `origin`, `limit` of each. */
const membersBeside = (db: Db, turn: number, range: Sql, limit: number) => sql`
  select shared.place * 2 + ${turn}::integer as turn,
         row_number() over (order by beside.position, beside.product_id) as place,
         beside.product_id as id
    from shared
   cross join origin
   cross join lateral (
     select m.position, m.product_id
       from collection_products m
      where m.tenant_ref = ${db.tenant} and m.collection_id = shared.id and m.on_sale
        and (m.position, m.product_id) ${range} (shared.position, origin.id)
      order by m.position, m.product_id
      limit ${limit}) beside`

/** Products after or before the product `origin` in the list of all. */
const productsBeside = (db: Db, turn: number, range: Sql, limit: number) => sql`
  select ${turn}::integer as turn,
         row_number() over (order by beside.created_at desc, beside.id desc) as place, beside.id
    from (select p.created_at, p.id
            from products p
           where p.tenant_ref = ${db.tenant} and p.status = 'active'
             and (p.created_at, p.id) ${range} ((select created_at from origin), (select id from origin))
           order by p.created_at desc, p.id desc
           limit ${limit}) beside`

/** Collections of a product that related products are taken from: the first ones. */
const SHARED_COLLECTIONS = 3
/** The turns of the list of all products: after those of collections. */
const [LIST_NEXT, LIST_START] = [100, 101]

/**
 * Chooses the products that follow one in its collections, and then in the list of all; no row unless the store is
 * live. After the end of a list it continues at its beginning.
 */
export const chooseRelatedProducts = (db: Db, slug: string, limit: number) =>
  db.many(
    Chosen,
    sql`
    with origin as materialized (
      select created_at, id
        from products
       where tenant_ref = ${db.tenant} and slug = ${slug} and status = 'active'),
    shared as materialized (
      ${collectionsOf(db, sql`(select id from origin)`, SHARED_COLLECTIONS)}),
    beside as (
      (${membersBeside(db, 0, sql`>`, limit)})
      union all
      (${membersBeside(db, 1, sql`<`, limit)})
      union all
      (${productsBeside(db, LIST_NEXT, sql`<`, limit)})
      union all
      (${productsBeside(db, LIST_START, sql`>`, limit)})),
    chosen as (
      select id, turn, place
        from (select distinct on (id) id, turn, place from beside order by id, turn, place) once
       order by turn, place
       limit ${limit})
    select count(page.id) over () as total, page.id, page.version, null::bigint as at
      from ${stores.liveStore(db)}
      left join (
        select p.id, p.xmin::text as version, chosen.turn, chosen.place
          from chosen
          join products p on p.tenant_ref = ${db.tenant} and p.id = chosen.id) page on true
     order by page.turn, page.place`,
  )

const rangeOfPositions = ({ after, before }: PageRange) => {
  if (after !== null) {
    return sql`and (m.position, m.product_id) > (${after.at}::bigint, ${after.id}::uuid)`
  }
  if (before === null) return sql``
  return sql`and (m.position, m.product_id) < (${before.at}::bigint, ${before.id}::uuid)`
}

const ChosenMember = Type.Object({
  ...Chosen.properties,
  collection: Nullable(StorefrontCollection),
})

/**
 * Chooses the products of a collection, in the collection's own order; no row unless the store is live, and a null for
 * an unknown collection. A page before a place ends next to it.
 */
export function chooseCollectionProducts(db: Db, slug: string, range: PageRange) {
  const order = range.before === null ? sql`asc` : sql`desc`
  const members = sql`
    from collection_products m
   where m.tenant_ref = ${db.tenant} and m.collection_id = (select id from wanted) and m.on_sale`
  return db.many(
    ChosenMember,
    sql`
    with wanted as materialized (
      select c.id, ${publicCollection} as collection
        from collections c
       where c.tenant_ref = ${db.tenant} and c.slug = ${slug}),
    counted as materialized (
      select count(*) as total from (select ${members} limit ${range.countUpTo}) rows)
    select counted.total, wanted.collection, page.id, page.version, page.at
      from ${stores.liveStore(db)}
     cross join counted
      left join wanted on true
      left join lateral (
        select p.id, p.xmin::text as version, chosen.position as at
          from (select m.product_id, m.position
                ${members} ${rangeOfPositions(range)}
                 order by m.position ${order}, m.product_id ${order}
                 limit ${limitOf(range)}) chosen
          join products p on p.tenant_ref = ${db.tenant} and p.id = chosen.product_id) page on true
     order by page.at, page.id`,
  )
}

/** Lists some active products after a place in the list of all, newest first, each with its version. */
export const listActiveProducts = (db: Db, after: ListPlace | null, limit: number) =>
  db.many(
    Type.Object({ id: Id, version: Type.String(), at: Type.Integer() }),
    sql`
    select p.id, p.xmin::text as version, ${microsecondsOf(sql`p.created_at`)} as at
      from products p
     where p.tenant_ref = ${db.tenant} and p.status = 'active'
       ${after === null ? sql`` : sql`and (p.created_at, p.id) < (${timeOf(after.at)}, ${after.id}::uuid)`}
     order by p.created_at desc, p.id desc
     limit ${limit}`,
  )

/** Returns a text that changes when the active products do. */
export const readActiveVersion = async (db: Db): Promise<string> => {
  const { version } = await db.one(
    Type.Object({ version: Type.String() }),
    sql`
    select concat_ws(' ', count(*), bit_xor(uuid_hash_extended(id, xmin::text::bigint))) as version
      from products
     where tenant_ref = ${db.tenant} and status = 'active'`,
  )
  return version
}

const Marks = Type.Object({ id: Id, product_id: Id, metadata: OpenObject })

/** Lists the products and variants among these that have any of these keys in their metadata. */
export const listMarked = (db: Db, productIds: readonly string[], keys: readonly string[]) =>
  db.many(
    Marks,
    sql`
    select id, id as product_id, metadata
      from products
     where tenant_ref = ${db.tenant} and id = any (${productIds}::uuid[])
       and metadata ?| ${keys}::text[]
     union all
    select id, product_id, metadata
      from variants
     where tenant_ref = ${db.tenant} and product_id = any (${productIds}::uuid[])
       and archived_at is null and metadata ?| ${keys}::text[]`,
  )

const LoadedProduct = Type.Object({
  id: Id,
  version: Type.String(),
  product: Nullable(PublicProduct),
})

/**
 * Loads active products by id, as far as their texts and variants fit into this many bytes: `product` is null beyond
 * that. The sizes are estimates by the lengths of the columns, and `offset 0` has each computed once.
 */
export const loadPublicProducts = (db: Db, ids: readonly string[], bytesMax: number) =>
  db.many(
    LoadedProduct,
    sql`
    select p.id, p.version,
           case when p.bytes_before < ${bytesMax}::bigint then ${publicProduct} end as product
      from (select sized.*, sum(sized.bytes) over (order by sized.place) - sized.bytes
                            as bytes_before
              from (select p.*, p.xmin::text as version, wanted.place,
                           500 + octet_length(coalesce(p.description, ''))
                           + (select coalesce(sum(300 + octet_length(v.options::text)
                                                     + 2 * octet_length(concat(v.sku, v.label))
                                                     + coalesce(octet_length(v.image_asset_ref), 0)), 0)
                                from variants v
                               where v.tenant_ref = p.tenant_ref and v.product_id = p.id
                                 and v.archived_at is null) as bytes
                      from unnest(${ids}::uuid[]) with ordinality wanted (id, place)
                      join products p on p.tenant_ref = ${db.tenant} and p.id = wanted.id
                     where p.status = 'active'
                    offset 0) sized) p
     order by p.place`,
  )

/** Collections of a product that its page names. */
const COLLECTIONS_SHOWN = 10

/** Finds an active product with its first collections. Returns null unless the store is live. */
export const findPublicProduct = (db: Db, slug: string) =>
  db.maybe(
    Type.Object({
      product: Nullable(PublicProduct),
      collections: Type.Array(StorefrontCollection),
    }),
    sql`
    select found.product, coalesce(found.collections, '[]') as collections
      from ${stores.liveStore(db)}
      left join (
        select ${publicProduct} as product,
               (select json_agg(${publicCollection} order by c.place)
                  from (${collectionsOf(db, sql`p.id`, COLLECTIONS_SHOWN)}) c) as collections
          from products p
         where p.tenant_ref = ${db.tenant} and p.slug = ${slug} and p.status = 'active') found
        on true`,
  )

/**
 * Lists the addresses of some active products of a store, oldest first, so that a new product changes only
 * the last part of a sitemap. Returns null unless the store is live.
 */
export const listSitemapProducts = (db: Db, { limit, offset }: Page) =>
  db.maybe(
    Type.Object({ total: Type.Integer(), products: Type.Array(SitemapProduct) }),
    sql`
    select (select count(*)
              from products
             where tenant_ref = ${db.tenant} and status = 'active') as total,
           (select coalesce(json_agg(json_build_object(
                              'slug', p.slug,
                              'updated_at', ${jsonTime(sql`p.updated_at`)})
                            order by p.created_at, p.id), '[]')
              from (select id
                      from products
                     where tenant_ref = ${db.tenant} and status = 'active'
                     order by created_at, id
                     limit ${limit} offset ${offset}) page
              join products p on p.tenant_ref = ${db.tenant} and p.id = page.id) as products
      from ${stores.liveStore(db)}`,
  )

/** The slugs of a store's active products and of its collections. Returns null unless it is live. */
export const listPublicSlugs = (db: Db) =>
  db.maybe(
    Type.Object({ products: Type.Array(Type.String()), collections: Type.Array(Type.String()) }),
    sql`
    select array(select slug from products
                  where tenant_ref = ${db.tenant} and status = 'active') as products,
           array(select slug from collections where tenant_ref = ${db.tenant}) as collections
      from ${stores.liveStore(db)}`,
  )

/** Lists the collections of a store. Returns null unless it is live. */
export const listPublicCollections = (db: Db) =>
  db.maybe(
    Type.Object({ collections: Type.Array(StorefrontCollection) }),
    sql`
    select (select coalesce(json_agg(${publicCollection} order by c.position, c.created_at, c.id),
                            '[]')
              from collections c
             where c.tenant_ref = ${db.tenant}) as collections
      from ${stores.liveStore(db)}`,
  )

/** Lists the variants among these that can be bought, with the members that a price depends on. */
export const listSaleVariants = (db: Db, ids: readonly string[]) =>
  db.many(
    SaleVariant,
    sql`
    select v.id as variant_id, v.product_id, p.name as product_name, v.sku, v.label, v.price_cents,
           v.currency, v.gift_card, p.is_subscription, p.subscription_interval, p.subscription_interval_count,
           p.subscription_price_cents,
           array(select c.slug
                   from collection_products m
                   join collections c on c.tenant_ref = m.tenant_ref and c.id = m.collection_id
                  where m.tenant_ref = p.tenant_ref and m.product_id = p.id
                  order by c.slug) as collection_slugs
      from variants v
      join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
     where v.tenant_ref = ${db.tenant} and v.id = any (${ids}::uuid[])
       and v.archived_at is null and p.status = 'active'`,
  )

/** The names of variants, whatever their status. */
export const listVariantNames = (db: Db, ids: readonly string[]) =>
  db.many(
    Type.Object({ variant_id: Id, ...VariantNames.properties }),
    sql`
    select v.id as variant_id, p.name as product_name, v.sku, v.label
      from variants v
      join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
     where v.tenant_ref = ${db.tenant} and v.id = any (${ids}::uuid[])`,
  )
