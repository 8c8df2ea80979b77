import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { Nullable } from '../../kernel/schema.ts'
import * as stores from '../stores/service.ts'
import { PublicProduct, SaleVariant, StorefrontCollection } from './schema.ts'

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
                                   'price_cents', v.price_cents, 'currency', v.currency)
                                 order by v.position, v.created_at, v.id), '[]')
                   from variants v
                  where v.tenant_ref = p.tenant_ref and v.product_id = p.id
                    and v.archived_at is null))`

const publicCollection = sql`
  json_build_object('slug', c.slug, 'title', c.title, 'description', c.description)`

const FoundProducts = Type.Object({ products: Type.Array(PublicProduct) })

/** Null unless the store is live; the products newest first. */
export const listPublicProducts = (db: Db) =>
  db.maybe(
    FoundProducts,
    sql`
    select (select coalesce(json_agg(${publicProduct} order by p.created_at desc, p.id desc), '[]')
              from products p
             where p.tenant_ref = ${db.tenant} and p.status = 'active') as products
      from ${stores.liveStore(db)}`,
  )

/** Null unless the store is live. In the order of the ids, without products that are not active. */
export const listPublicProductsById = (db: Db, ids: readonly string[]) =>
  db.maybe(
    FoundProducts,
    sql`
    select (select coalesce(json_agg(${publicProduct} order by wanted.place), '[]')
              from unnest(${ids}::uuid[]) with ordinality wanted (id, place)
              join products p on p.tenant_ref = ${db.tenant} and p.id = wanted.id
             where p.status = 'active') as products
      from ${stores.liveStore(db)}`,
  )

/** Null unless the store is live. */
export const findPublicProduct = (db: Db, slug: string) =>
  db.maybe(
    Type.Object({ product: Nullable(PublicProduct) }),
    sql`
    select (select ${publicProduct}
              from products p
             where p.tenant_ref = ${db.tenant} and p.slug = ${slug}
               and p.status = 'active') as product
      from ${stores.liveStore(db)}`,
  )

/** Null unless the store is live. */
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

/** Null unless the store is live; the products in the collection's own order. */
export const findPublicCollection = (db: Db, slug: string) =>
  db.maybe(
    Type.Object({
      found: Nullable(
        Type.Object({ collection: StorefrontCollection, products: Type.Array(PublicProduct) }),
      ),
    }),
    sql`
    select (select json_build_object(
                     'collection', ${publicCollection},
                     'products', (select coalesce(json_agg(${publicProduct} order by m.position),
                                                  '[]')
                                    from collection_products m
                                    join products p on p.tenant_ref = m.tenant_ref
                                                   and p.id = m.product_id
                                   where m.tenant_ref = c.tenant_ref and m.collection_id = c.id
                                     and p.status = 'active'))
              from collections c
             where c.tenant_ref = ${db.tenant} and c.slug = ${slug}) as found
      from ${stores.liveStore(db)}`,
  )

/** Those of the variants that can be bought, with the members that a price depends on. */
export const listSaleVariants = (db: Db, ids: readonly string[]) =>
  db.many(
    SaleVariant,
    sql`
    select v.id as variant_id, v.product_id, p.name as product_name, v.sku, v.label, v.price_cents,
           v.currency, p.is_subscription, p.subscription_interval, p.subscription_interval_count,
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
