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

/**
 * What shoppers may know of the stock of products: of each variant that is counted, whether it can
 * be bought, and as the store's `stock_hint` says, whether few are left and how many.
 */
export const listPublicStock = (db: Db, productIds: readonly string[]) =>
  db.many(
    CountedVariant,
    sql`
    with setting as materialized (${stores.stockHint(db)})
    select v.product_id, v.id as variant_id, s.allow_backorder or stock.units >= 1 as available,
           setting.stock_hint <> 'none' and stock.is_low as low_stock,
           case when setting.stock_hint = 'count' and stock.is_low
                then stock.units end as available_units
      from setting
      join variants v on v.tenant_ref = ${db.tenant} and v.product_id = any (${productIds}::uuid[])
                     and v.archived_at is null
      join inventory_settings s on s.tenant_ref = ${db.tenant} and s.variant_id = v.id
                               and s.track_inventory
     cross join lateral (
       select units,
              not s.allow_backorder
              and coalesce(units between 1 and s.low_stock_threshold, false) as is_low
         from (select coalesce(sum(l.on_hand - l.allocated - l.reserved), 0)::bigint as units
                 from inventory_levels l
                where l.tenant_ref = ${db.tenant} and l.variant_id = v.id) counted) stock`,
  )
