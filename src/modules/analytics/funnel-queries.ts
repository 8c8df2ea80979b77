import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import type { FunnelType } from './schema.ts'

/** Stands for no product, in a key that must have one. */
export const NO_PRODUCT = '00000000-0000-0000-0000-000000000000'

/** Stands for all products, in rows that count them together, so that a report need not add them up. */
const ALL_PRODUCTS = sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`

export interface FunnelCount {
  type: FunnelType
  product_id: string
  count: number
}

/**
 * Adds to the counts of a day. An unknown product is counted as no product, so that the number of rows is bounded by
 * the catalog. Rows are locked in one order, whatever was sent.
 */
export const addToFunnel = (db: Db, day: string, shard: number, counts: readonly FunnelCount[]) =>
  db.run(sql`
    with known as (
      select c.type, coalesce(p.id, ${NO_PRODUCT}::uuid) as product_id, c.count
        from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
             as c (type text, product_id uuid, count bigint)
        left join products p on p.tenant_ref = ${db.tenant} and p.id = c.product_id
    )
    insert into funnel_days as d (tenant_ref, day, type, product_id, shard, count)
    select ${db.tenant}, ${day}::date, type, product_id, ${shard}, sum(count)
      from (select type, product_id, count from known
             union all
            select type, ${ALL_PRODUCTS}, count from known) as counted
     group by type, product_id
     order by type, product_id
        on conflict (tenant_ref, day, type, product_id, shard) do update
       set count = d.count + excluded.count`)

/** Lists the counts of a period, by day and type. */
export const listFunnel = (db: Db, from: string, to: string) =>
  db.many(
    Type.Object({ day: Type.String(), type: Type.String(), count: Type.Integer() }),
    sql`
    select day::text as day, type, sum(count)::bigint as count
      from funnel_days
     where tenant_ref = ${db.tenant} and day between ${from} and ${to}
       and product_id = ${ALL_PRODUCTS}
     group by day, type`,
  )

export interface FunnelKey {
  day: string
  product_id: string
}

export const listFunnelRows = (
  db: Db,
  type: FunnelType,
  { from, to, after, limit }: { from: string; to: string; after: FunnelKey | null; limit: number },
) =>
  db.many(
    Type.Object({ day: Type.String(), product_id: Nullable(Id), amount_cents: Type.Integer() }),
    sql`
    select day::text as day, nullif(product_id, ${NO_PRODUCT}::uuid) as product_id,
           sum(count)::bigint as amount_cents
      from funnel_days
     where tenant_ref = ${db.tenant} and day between ${after?.day ?? from} and ${to}
       and type = ${type} and product_id <> ${ALL_PRODUCTS}
       and (day, product_id) > (${after?.day ?? '0001-01-01'}::date,
                                ${after?.product_id ?? NO_PRODUCT}::uuid)
     group by day, funnel_days.product_id
     order by day, funnel_days.product_id
     limit ${limit}`,
  )
