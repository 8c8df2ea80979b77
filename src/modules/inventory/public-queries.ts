import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import * as stores from '../stores/service.ts'

const CountedVariant = Type.Object({
  product_id: Id,
  variant_id: Id,
  available: Type.Boolean(),
  low_stock: Type.Boolean(),
  available_units: Nullable(Type.Integer()),
})

/** Whether a variant with the settings `s` and the units `stock` can be bought, and whether few units are left. */
const isAvailable = sql`(s.allow_backorder or stock.units >= 1)`
const isLow = sql`(
  not s.allow_backorder and coalesce(stock.units between 1 and s.low_stock_threshold, false))`
const unitsOf = sql`coalesce(sum(l.on_hand - l.allocated - l.reserved), 0)::bigint`

/** The part of this that is shown, as the store's `stock_hint` says. */
const shownAsLow = sql`(setting.stock_hint <> 'none' and ${isLow})`
const shownUnits = sql`case when setting.stock_hint = 'count' and ${isLow} then stock.units end`

/**
 * Lists the stock of products that shoppers may see: for each variant whose stock is counted, whether it can be
 * bought, and as the store's `stock_hint` says, whether few units are left and how many.
 */
export const listPublicStock = (db: Db, productIds: readonly string[]) =>
  db.many(
    CountedVariant,
    sql`
    with setting as materialized (${stores.stockHint(db)})
    select v.product_id, v.id as variant_id, ${isAvailable} as available,
           ${shownAsLow} as low_stock, ${shownUnits} as available_units
      from setting
      join variants v on v.tenant_ref = ${db.tenant} and v.product_id = any (${productIds}::uuid[])
                     and v.archived_at is null
      join inventory_settings s on s.tenant_ref = ${db.tenant} and s.variant_id = v.id
                               and s.track_inventory
     cross join lateral (
       select ${unitsOf} as units
         from inventory_levels l
        where l.tenant_ref = ${db.tenant} and l.variant_id = v.id) stock`,
  )

/**
 * Reads how many variants are counted, and a text that changes when the stock that shoppers may see changes. One
 * statement reads both: for 100,000 variants it takes seconds.
 */
export const readPublicStockVersion = (db: Db) =>
  db.one(
    Type.Object({ version: Type.String(), counted: Type.Integer() }),
    sql`
    with setting as materialized (${stores.stockHint(db)})
    select count(*)::int as counted,
           coalesce(bit_xor(uuid_hash_extended(
             s.variant_id,
             ${isAvailable}::int + 2 * ${shownAsLow}::int + 4 * coalesce(${shownUnits}, 0))), 0)::text
             as version
      from setting
     cross join (
       select c.variant_id, c.allow_backorder, c.low_stock_threshold, ${unitsOf} as units
         from inventory_settings c
         left join inventory_levels l
                on l.tenant_ref = ${db.tenant} and l.variant_id = c.variant_id
        where c.tenant_ref = ${db.tenant} and c.track_inventory
        group by c.tenant_ref, c.variant_id) s
     cross join lateral (select s.units) stock`,
  )
