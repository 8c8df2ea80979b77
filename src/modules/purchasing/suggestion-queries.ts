import { type Static, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable } from '../../kernel/schema.ts'

const Demand = Type.Object({
  variant_id: Id,
  sku: Type.String(),
  archived: Type.Boolean(),
  available: Type.Integer(),
  incoming: Type.Integer(),
  /** Units that orders have bought in the period, less those they have released. */
  sold_units: Type.Integer(),
  sold_days: Type.Integer(),
  vendor_id: Nullable(Id),
  lead_time_days: Nullable(Type.Integer()),
})
export type Demand = Static<typeof Demand>

export interface Slice {
  /** The last variant that was examined; null at the beginning. */
  after: string | null
  /** How many variants are examined. */
  variants: number
  days: number
  /** The most movements that are read of a level. */
  movements: number
}

/**
 * Examines the next tracked variants, by id. At most `movements` of the newest movements are read of each level: if
 * they do not cover the whole period, the period begins with the oldest that was read. So the work of a slice is
 * bounded, however much the store has sold.
 */
export const listDemand = (db: Db, { after, variants, days, movements }: Slice) =>
  db.many(
    Demand,
    sql`
    select v.id as variant_id, v.sku, v.archived_at is not null as archived, stock.available,
           stock.incoming, sold.sold_units, sold.sold_days, last.vendor_id, last.lead_time_days
      from (select variant_id
              from inventory_settings
             where tenant_ref = ${db.tenant} and track_inventory
               and variant_id > coalesce(${after}::uuid, '00000000-0000-0000-0000-000000000000')
             order by variant_id
             limit ${variants}) as s
     cross join lateral (
           -- One by one: a join may read the variants of the whole store.
           select id, sku, archived_at from variants
            where tenant_ref = ${db.tenant} and id = s.variant_id
            limit 1) as v
     cross join lateral (
           select coalesce(sum(on_hand - allocated - reserved), 0)::bigint as available,
                  coalesce(sum(incoming), 0)::bigint as incoming
             from inventory_levels
            where tenant_ref = ${db.tenant} and variant_id = v.id) as stock
     cross join lateral (
           with newest as materialized (
             select m.*, count(*) over level as read, min(m.created_at) over level as oldest
               from inventory_levels l
              cross join lateral (
                    -- Ordered as the index of variants is, and not that of the newest of all.
                    select location_id, kind, quantity, fulfillment_id, created_at
                      from inventory_movements
                     where tenant_ref = ${db.tenant} and variant_id = v.id
                       and location_id >= l.location_id and location_id <= l.location_id
                     order by location_id, seq desc
                     limit ${movements}) as m
              where l.tenant_ref = ${db.tenant} and l.variant_id = v.id
             window level as (partition by l.location_id)
           ),
           period as (
             select greatest(fd_now() - make_interval(days => ${days}),
                             max(oldest) filter (where read = ${movements})) as since
               from newest
           )
           -- A parcel that is recalled is allocated again, and was not bought again.
           select coalesce(sum(quantity) filter (where kind in ('allocated', 'released')
                                                   and fulfillment_id is null
                                                   and created_at >= since), 0)::bigint as sold_units,
                  greatest(1, ceil(extract(epoch from fd_now() - min(since)) / 86400))::int
                    as sold_days
             from period
             left join newest on true) as sold
      left join lateral (
           select o.vendor_id, w.lead_time_days
             from purchase_order_lines p
             join purchase_orders o
               on o.tenant_ref = ${db.tenant} and o.id = p.purchase_order_id
             join vendors w on w.tenant_ref = ${db.tenant} and w.id = o.vendor_id
            where p.tenant_ref = ${db.tenant} and p.variant_id = v.id
            order by p.id desc
            limit 1) as last on true
     order by v.id`,
  )
