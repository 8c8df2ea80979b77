import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { microsecondsOf, timeOf } from '../../db/list.ts'
import { join, jsonTime, sql } from '../../db/sql.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import type { ListPlace } from './list-schema.ts'
import {
  FullProduct,
  ProductRow,
  type ProductStatus,
  ShownProduct,
  type StoredImage,
  Variant,
  VariantOption,
} from './schema.ts'

const columns = sql`id, tenant_ref, slug, name, description, status, is_subscription,
                    subscription_interval, subscription_interval_count, subscription_price_cents,
                    metadata, created_at, updated_at`

const variantColumns = sql`id, tenant_ref, product_id, sku, label, options,
                           image_asset_ref, price_cents, compare_at_price_cents,
                           lowest_price_30_days_cents, currency,
                           content_amount, content_unit, gift_card, position, metadata, archived_at, created_at,
                           updated_at`

const images = sql`
  (select coalesce(json_agg(json_build_object('asset_ref', i.asset_ref, 'alt', i.alt)
                            order by i.position), '[]')
     from product_images i
    where i.tenant_ref = products.tenant_ref and i.product_id = products.id) as images`

const variants = sql`
  (select coalesce(json_agg(json_build_object(
                     'id', v.id, 'tenant_ref', v.tenant_ref, 'product_id', v.product_id,
                     'sku', v.sku, 'label', v.label, 'options', v.options,
                     'image_asset_ref', v.image_asset_ref, 'price_cents', v.price_cents,
                     'compare_at_price_cents', v.compare_at_price_cents,
                     'lowest_price_30_days_cents', v.lowest_price_30_days_cents, 'currency', v.currency,
                     'content_amount', v.content_amount, 'content_unit', v.content_unit,
                     'gift_card', v.gift_card, 'position', v.position, 'metadata', v.metadata,
                     'archived_at', ${jsonTime(sql`v.archived_at`)},
                     'created_at', ${jsonTime(sql`v.created_at`)},
                     'updated_at', ${jsonTime(sql`v.updated_at`)})
                   order by v.position, v.created_at, v.id), '[]')
     from variants v
    where v.tenant_ref = products.tenant_ref and v.product_id = products.id) as variants`

/** The latest request to activate the product. */
const activationRequest = sql`
  (select json_build_object('id', r.id, 'status', r.status, 'note', r.note,
                            'requested_by', r.requested_by, 'created_at', ${jsonTime(sql`r.created_at`)},
                            'decided_at', ${jsonTime(sql`r.decided_at`)},
                            'decision_note', r.decision_note)
     from activation_requests r
    where r.tenant_ref = products.tenant_ref and r.product_id = products.id
    order by r.created_at desc, r.id desc
    limit 1) as activation_request`

/** The validated members of a product. */
export type ProductFields = Omit<ProductRow, 'id' | 'tenant_ref' | 'created_at' | 'updated_at'>

export const insertProduct = (db: Db, row: ProductFields) =>
  db.one(
    ProductRow,
    sql`
    insert into products (tenant_ref, slug, name, description, status, is_subscription,
                          subscription_interval, subscription_interval_count,
                          subscription_price_cents, metadata)
    values (${db.tenant}, ${row.slug}, ${row.name}, ${row.description}, ${row.status},
            ${row.is_subscription}, ${row.subscription_interval},
            ${row.subscription_interval_count}, ${row.subscription_price_cents},
            ${JSON.stringify(row.metadata)})
    returning ${columns}`,
  )

export const updateProduct = (tx: Tx, id: string, row: ProductFields) =>
  tx.one(
    ProductRow,
    sql`
    update products
       set slug = ${row.slug}, name = ${row.name}, description = ${row.description},
           is_subscription = ${row.is_subscription},
           subscription_interval = ${row.subscription_interval},
           subscription_interval_count = ${row.subscription_interval_count},
           subscription_price_cents = ${row.subscription_price_cents},
           metadata = ${JSON.stringify(row.metadata)}, updated_at = fd_clock()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

export const updateStatus = (tx: Tx, id: string, status: ProductStatus) =>
  tx.one(
    ProductRow,
    sql`
    update products set status = ${status}, updated_at = fd_clock()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${columns}`,
  )

/** Records that a variant or an image of the product changed. */
export const touchProduct = (tx: Tx, id: string) =>
  tx.run(sql`
    update products set updated_at = fd_clock()
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Locks a product against other changes, but not against rows that refer to it. */
export const lockProduct = (tx: Tx, id: string) =>
  tx.maybe(
    ProductRow,
    sql`
    select ${columns}
      from products
     where tenant_ref = ${tx.tenant} and id = ${id}
       for no key update`,
  )

export const findProduct = (db: Db, id: string) =>
  db.maybe(
    FullProduct,
    sql`
    select ${columns}, ${images}, ${variants}, ${activationRequest}
      from products
     where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export const getShownProduct = (tx: Tx, id: string) =>
  tx.one(
    ShownProduct,
    sql`
    select status, ${images},
           (select coalesce(json_agg(json_build_object('price_cents', v.price_cents,
                                                       'archived_at', v.archived_at)), '[]')
              from variants v
             where v.tenant_ref = products.tenant_ref and v.product_id = products.id
               and v.archived_at is null) as variants
      from products
     where tenant_ref = ${tx.tenant} and id = ${id}`,
  )

export interface ProductFilters {
  status?: ProductStatus | undefined
  /** Part of the name, the slug or a SKU, in Unicode form C. */
  q?: string | undefined
}

/** The products of a page, newest first. */
export interface ProductRange {
  after: ListPlace | null
  limit: number
  offset: number
}

const productsWhere = (db: Db, status: ProductStatus | undefined) => {
  const where = [sql`tenant_ref = ${db.tenant}`]
  if (status !== undefined) where.push(sql`status = ${status}`)
  return sql`from products where ${join(where, ' and ')}`
}

const ChosenIds = Type.Object({ ids: Type.Array(Id), total: Type.Integer() })

/**
 * Chooses the products of a page by an index, without reading them, and counts them all. `total` is `countMax` if there
 * are as many or more.
 */
export function chooseProducts(
  db: Db,
  { status, q }: ProductFilters,
  { after, limit, offset }: ProductRange,
  countMax: number,
) {
  if (q !== undefined) {
    return db.one(
      ChosenIds,
      sql`
      select ids, total
        from fd_filter_products(${q}, ${status ?? null}, ${timeOf(after?.at ?? null)}, ${after?.id ?? null},
                                ${limit}, ${offset}, ${countMax})`,
    )
  }
  const from = productsWhere(db, status)
  const range =
    after === null ? sql`` : sql`and (created_at, id) < (${timeOf(after.at)}, ${after.id}::uuid)`
  return db.one(
    ChosenIds,
    sql`
    select (select count(*) from (select ${from} limit ${countMax}) rows) as total,
           array(select id ${from} ${range}
                  order by created_at desc, id desc
                  limit ${limit} offset ${offset}) as ids`,
  )
}

const ListedProduct = Type.Object({ ...FullProduct.properties, at: Type.Integer() })

/**
 * Reads products in the order of the ids, each with its place in the list, as far as they fit into this many bytes;
 * always the first one. The sizes are estimates by the lengths of the columns, and `offset 0` has each computed once.
 */
export const listProducts = (db: Db, ids: readonly string[], bytesMax: number) =>
  db.many(
    ListedProduct,
    sql`
    select ${columns}, ${images}, ${variants}, ${activationRequest},
           ${microsecondsOf(sql`created_at`)} as at
      from (select sized.*, sum(sized.bytes) over (order by sized.place) - sized.bytes
                            as bytes_before
              from (select p.*, wanted.place,
                           500 + octet_length(coalesce(p.description, ''))
                           + octet_length(p.metadata::text)
                           + (select coalesce(sum(500 + octet_length(v.metadata::text)
                                                     + octet_length(v.options::text)), 0)
                                from variants v
                               where v.tenant_ref = p.tenant_ref and v.product_id = p.id) as bytes
                      from unnest(${ids}::uuid[]) with ordinality wanted (id, place)
                      join products p on p.tenant_ref = ${db.tenant} and p.id = wanted.id
                    offset 0) sized) products
     where bytes_before < ${bytesMax}::bigint
     order by place`,
  )

export type VariantFields = Pick<
  Variant,
  | 'sku'
  | 'label'
  | 'options'
  | 'image_asset_ref'
  | 'price_cents'
  | 'compare_at_price_cents'
  | 'currency'
  | 'content_amount'
  | 'content_unit'
  | 'gift_card'
  | 'metadata'
> & {
  /** Null: after the others. */
  position: number | null
}

/** Inserts a variant. Call it under the product's lock, since the position depends on the other variants. */
export const insertVariant = (tx: Tx, productId: string, row: VariantFields) =>
  tx.one(
    Variant,
    sql`
    insert into variants (tenant_ref, product_id, sku, label, options, image_asset_ref, price_cents,
                          compare_at_price_cents, currency, content_amount, content_unit, gift_card,
                          metadata, position)
    select ${tx.tenant}, ${productId}, ${row.sku}, ${row.label}, ${JSON.stringify(row.options)}::jsonb,
           ${row.image_asset_ref}, ${row.price_cents}, ${row.compare_at_price_cents}::bigint,
           ${row.currency}, ${row.content_amount}::integer, ${row.content_unit},
           ${row.gift_card}::boolean, ${JSON.stringify(row.metadata)},
           coalesce(${row.position}::integer, least(coalesce(max(position) + 1, 0), 1000000))
      from variants
     where tenant_ref = ${tx.tenant} and product_id = ${productId}
    returning ${variantColumns}`,
  )

/** Counts the variants that are not archived, up to a number. Call it under the product's lock. */
export const countVariants = (tx: Tx, productId: string, upTo: number) =>
  tx.one(
    Type.Object({ used: Type.Integer() }),
    sql`
    select count(*) as used
      from (select from variants
             where tenant_ref = ${tx.tenant} and product_id = ${productId} and archived_at is null
             limit ${upTo}) as counted`,
  )

/** Whether a variant of the product that is not archived is a gift card. Call it under its lock. */
export const hasGiftCard = (tx: Tx, productId: string) =>
  tx.one(
    Type.Object({ has_gift_card: Type.Boolean() }),
    sql`
    select exists (select from variants
                    where tenant_ref = ${tx.tenant} and product_id = ${productId} and gift_card
                      and archived_at is null) as has_gift_card`,
  )

/** The options of the other variants that are not archived. Call it under the product's lock. */
export const listOptions = (tx: Tx, productId: string, exceptId: string | null) =>
  tx.many(
    Type.Object({ options: Type.Array(VariantOption) }),
    sql`
    select options
      from variants
     where tenant_ref = ${tx.tenant} and product_id = ${productId} and archived_at is null
       and options <> '[]' and id is distinct from ${exceptId}`,
  )

export const findVariant = (db: Db, id: string) =>
  db.maybe(
    Variant,
    sql`select ${variantColumns} from variants where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** Finds the names of a variant, also once it is archived. */
export const findVariantName = (db: Db, id: string) =>
  db.maybe(
    Type.Object({ product_name: Type.String(), label: Nullable(Type.String()) }),
    sql`
    select p.name as product_name, v.label
      from variants v join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
     where v.tenant_ref = ${db.tenant} and v.id = ${id}`,
  )

/** Whether neither the variant nor its product is archived. */
export const hasUnarchivedVariant = (db: Db, id: string) =>
  db.one(
    Type.Object({ is_unarchived: Type.Boolean() }),
    sql`
    select exists (select from variants v
                     join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
                    where v.tenant_ref = ${db.tenant} and v.id = ${id}
                      and v.archived_at is null and p.status <> 'archived') as is_unarchived`,
  )

/** Updates a variant. `lowest` is the lowest price of the 30 days before the reduction that it announces. */
export const updateVariant = (tx: Tx, id: string, row: VariantFields, lowest: number | null) =>
  tx.one(
    Variant,
    sql`
    update variants
       set sku = ${row.sku}, label = ${row.label}, options = ${JSON.stringify(row.options)},
           image_asset_ref = ${row.image_asset_ref}, price_cents = ${row.price_cents},
           compare_at_price_cents = ${row.compare_at_price_cents},
           lowest_price_30_days_cents = ${lowest},
           currency = ${row.currency}, content_amount = ${row.content_amount},
           content_unit = ${row.content_unit}, gift_card = ${row.gift_card}, metadata = ${JSON.stringify(row.metadata)},
           position = coalesce(${row.position}::integer, position), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${variantColumns}`,
  )

/** Sets the lowest price of the 30 days before the reduction of a variant. */
export const setLowestPrice = (tx: Tx, id: string, cents: number | null) =>
  tx.run(sql`
    update variants set lowest_price_30_days_cents = ${cents}
     where tenant_ref = ${tx.tenant} and id = ${id}`)

export const archiveVariant = (tx: Tx, id: string) =>
  tx.one(
    Variant,
    sql`
    update variants
       set archived_at = coalesce(archived_at, fd_now()), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
    returning ${variantColumns}`,
  )

export const deleteImages = (tx: Tx, productId: string) =>
  tx.run(sql`
    delete from product_images where tenant_ref = ${tx.tenant} and product_id = ${productId}`)

/** Clears the image of variants of the product whose image is not one of these. */
export const clearVariantImages = (tx: Tx, productId: string, kept: readonly string[]) =>
  tx.run(sql`
    update variants
       set image_asset_ref = null, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and product_id = ${productId}
       and image_asset_ref <> all (${kept}::text[])`)

export const hasImage = (tx: Tx, productId: string, assetRef: string) =>
  tx.one(
    Type.Object({ has_image: Type.Boolean() }),
    sql`
    select exists (select from product_images
                    where tenant_ref = ${tx.tenant} and product_id = ${productId}
                      and asset_ref = ${assetRef}) as has_image`,
  )

/** Inserts the images in the order of the list. */
export const insertImages = (tx: Tx, productId: string, list: readonly StoredImage[]) =>
  tx.run(sql`
    insert into product_images (tenant_ref, product_id, asset_ref, alt, position)
    select ${tx.tenant}, ${productId}, given.asset_ref, given.alt, given.place
      from unnest(${list.map(({ asset_ref }) => asset_ref)}::text[],
                  ${list.map(({ alt }) => alt)}::text[]) with ordinality given (asset_ref, alt, place)`)

/**
 * The image of each of these variants: its own, else the first of its product. A variant without either is left out.
 */
export const listVariantImages = (db: Db, variant_ids: readonly string[]) =>
  db.many(
    Type.Object({ variant_id: Id, asset_ref: Type.String() }),
    sql`
    select v.id as variant_id, coalesce(v.image_asset_ref, main.asset_ref) as asset_ref
      from variants v
      left join lateral (
        select asset_ref
          from product_images
         where tenant_ref = v.tenant_ref and product_id = v.product_id
         order by position
         limit 1) main on true
     where v.tenant_ref = ${db.tenant} and v.id = any (${variant_ids}::uuid[])
       and coalesce(v.image_asset_ref, main.asset_ref) is not null`,
  )

/** The products that have one of the slugs, archived ones first: their slugs may have a new product. */
export const listSlugs = (db: Db, slugs: readonly string[]) =>
  db.many(
    Type.Object({ id: Id, slug: Type.String() }),
    sql`
    select id, slug
      from products
     where tenant_ref = ${db.tenant} and slug = any (${slugs}::text[])
     order by status <> 'archived'`,
  )
