import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { createTurns } from '../../platform/store-turns.ts'
import type { FulfillmentState } from '../orders/parcel-schema.ts'
import { autoDeliverDays } from '../stores/service.ts'
import { FulfillmentRow } from './schema.ts'

const columns = sql`
  f.id, f.order_id, f.fulfillment_number, f.status, f.location_id, f.carrier, f.service,
  f.tracking_number, f.tracking_url, f.weight_grams, f.cancel_reason, f.created_at, f.updated_at,
  f.shipped_at, f.delivered_at, f.cancelled_at, i.items`

const items = sql`
  cross join lateral (
        select json_agg(json_build_object(
                 'order_item_id', order_item_id, 'variant_id', variant_id, 'sku', sku,
                 'product_name', product_name, 'label', label, 'quantity', quantity,
                 'stock_quantity', stock_quantity) order by position) as items
          from fulfillment_items
         where tenant_ref = f.tenant_ref and fulfillment_id = f.id) as i`

const listFrom = (db: Db, parcels: Sql) =>
  db.many(
    FulfillmentRow,
    sql`select ${columns} from ${parcels} ${items} order by f.order_id, f.number`,
  )

const listWhere = (db: Db, where: Sql) =>
  listFrom(
    db,
    sql`(select * from fulfillments f where f.tenant_ref = ${db.tenant} and ${where}) as f`,
  )

/** The parcels of orders, each order's in the order of their numbers. */
export const listOfOrders = (db: Db, order_ids: readonly string[]) =>
  listWhere(db, sql`f.order_id = any (${order_ids}::uuid[])`)

/**
 * Lists parcels by their ids, each looked up by itself: for a list of ids PostgreSQL may read an index of all
 * parcels of the store.
 */
export const listByIds = (db: Db, ids: readonly string[]) =>
  listFrom(
    db,
    sql`unnest(${ids}::uuid[]) as wanted (id)
        cross join lateral (
              select * from fulfillments
               where tenant_ref = ${db.tenant} and id = wanted.id
               limit 1) as f`,
  )

export const listPending = (tx: Tx, order_id: string) =>
  listWhere(tx, sql`f.order_id = ${order_id} and f.status = 'pending'`)

export const listTracking = (db: Db, order_ids: readonly string[]) =>
  db.many(
    Type.Object({
      order_id: Id,
      parcels: Type.Integer(),
      tracking_numbers: Type.Array(Type.String()),
    }),
    sql`
    select order_id, count(*)::int as parcels,
           coalesce(array_agg(tracking_number order by number)
                      filter (where tracking_number is not null), '{}') as tracking_numbers
      from fulfillments
     where tenant_ref = ${db.tenant} and order_id = any (${order_ids}::uuid[])
       and status <> 'cancelled'
     group by order_id`,
  )

export interface FulfillmentFilters {
  status: FulfillmentState | undefined
  order_id: string | undefined
}

/** Lists parcels, newest first. */
export const list = (db: Db, { status, order_id }: FulfillmentFilters, page: Page) =>
  readList(
    db,
    {
      shape: FulfillmentRow,
      table: sql`fulfillments`,
      as: sql`f`,
      scope: sql`f.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`f.status = ${status}`]),
        ...(order_id === undefined ? [] : [sql`f.order_id = ${order_id}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
      joins: items,
    },
    page,
  )

/** Finds the number of the last parcel of each of these orders. */
export const countOfOrders = (tx: Tx, order_ids: readonly string[]) =>
  tx.many(
    Type.Object({ order_id: Id, last_number: Type.Integer() }),
    sql`
    select order_id, max(number) as last_number
      from fulfillments
     where tenant_ref = ${tx.tenant} and order_id = any (${order_ids}::uuid[])
     group by order_id`,
  )

export interface NewParcel {
  id: string
  order_id: string
  number: number
  fulfillment_number: string
  location_id: string
  carrier: string | null
  service: string | null
  tracking_number: string | null
  tracking_url: string | null
  weight_grams: number | null
  created_by: string
  items: {
    order_item_id: string
    variant_id: string
    sku: string
    product_name: string
    label: string | null
    quantity: number
    stock_quantity: number
  }[]
}

/** Writes new parcels with their items. */
export const insertParcels = (tx: Tx, parcels: readonly NewParcel[]) => {
  const lines = parcels.flatMap(({ id, items }) =>
    items.map((item, position) => ({ ...item, fulfillment_id: id, position })),
  )
  return tx.run(sql`
    with parcel as (
      insert into fulfillments (tenant_ref, id, order_id, number, fulfillment_number, location_id,
                                carrier, service, tracking_number, tracking_url, weight_grams,
                                created_by)
      select ${tx.tenant}, p.*
        from jsonb_to_recordset(${JSON.stringify(parcels)})
             as p (id uuid, order_id uuid, number int, fulfillment_number text, location_id text,
                   carrier text, service text, tracking_number text, tracking_url text,
                   weight_grams int, created_by text)
    )
    insert into fulfillment_items (tenant_ref, fulfillment_id, order_item_id, position, variant_id,
                                   sku, product_name, label, quantity, stock_quantity)
    select ${tx.tenant}, i.*
      from jsonb_to_recordset(${JSON.stringify(lines)})
           as i (fulfillment_id uuid, order_item_id uuid, position int, variant_id uuid, sku text,
                 product_name text, label text, quantity int, stock_quantity int)`)
}

/** Writes changed parcels with their present state. Their orders are locked. */
export const writeParcels = (tx: Tx, parcels: readonly Omit<FulfillmentRow, 'items'>[]) =>
  tx.run(sql`
    update fulfillments f
       set status = p.status, carrier = p.carrier, service = p.service,
           tracking_number = p.tracking_number, tracking_url = p.tracking_url,
           weight_grams = p.weight_grams, cancel_reason = p.cancel_reason,
           updated_at = p.updated_at, shipped_at = p.shipped_at, delivered_at = p.delivered_at,
           cancelled_at = p.cancelled_at,
           deliver_at = case when p.status = 'shipped'
                             then p.shipped_at + make_interval(days => (${autoDeliverDays(tx)})) end
      from jsonb_to_recordset(${JSON.stringify(parcels)})
           as p (id uuid, status text, carrier text, service text, tracking_number text,
                 tracking_url text, weight_grams int, cancel_reason text, updated_at timestamptz,
                 shipped_at timestamptz, delivered_at timestamptz, cancelled_at timestamptz)
     where f.tenant_ref = ${tx.tenant} and f.id = p.id`)

/** The turns of the stores with parcels that count as delivered by now. */
export const deliveryTurns = createTurns({
  table: sql`fulfillments`,
  due: sql`deliver_at`,
  only: sql`status = 'shipped'`,
})

/** Lists the parcels that count as delivered by now, the oldest first. */
export const listArrived = (db: Db, limit: number) =>
  db.many(
    Type.Object({ id: Id }),
    sql`
    select id
      from fulfillments
     where tenant_ref = ${db.tenant} and status = 'shipped' and deliver_at <= fd_now()
     order by deliver_at
     limit ${limit}`,
  )

/** A query of the time at which the next parcel counts as delivered. */
export const nextArrival = (db: Db) => sql`
  select min(deliver_at) from fulfillments where tenant_ref = ${db.tenant} and status = 'shipped'`

/** Whether the parcel still counts as delivered by now: the store may have changed its setting. */
export const hasArrived = async (tx: Tx, id: string): Promise<boolean> =>
  (
    await tx.one(
      Type.Object({ has_arrived: Type.Boolean() }),
      sql`
      select deliver_at <= fd_now() and (${autoDeliverDays(tx)}) is not null as has_arrived
        from fulfillments
       where tenant_ref = ${tx.tenant} and id = ${id}`,
    )
  ).has_arrived

/** Takes a parcel off the queue of automatic deliveries, if its store has switched them off. */
export const clearArrival = (tx: Tx, id: string) =>
  tx.run(sql`
    update fulfillments set deliver_at = null
     where tenant_ref = ${tx.tenant} and id = ${id} and (${autoDeliverDays(tx)}) is null`)

/**
 * Erases the tracking numbers and links of orders: a carrier shows name and address under them. Returns all
 * parcels of the orders.
 */
export const eraseTracking = (tx: Tx, order_ids: readonly string[]) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    with erased as (
      update fulfillments
         set tracking_number = null, tracking_url = null, updated_at = fd_now()
       where tenant_ref = ${tx.tenant} and order_id = any (${order_ids}::uuid[])
         and (tracking_number is not null or tracking_url is not null)
    )
    select id
      from fulfillments
     where tenant_ref = ${tx.tenant} and order_id = any (${order_ids}::uuid[])`,
  )
