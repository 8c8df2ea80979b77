import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import type { FunnelType } from './schema.ts'

/** In place of a product, in a key that must have one. */
export const NO_PRODUCT = '00000000-0000-0000-0000-000000000000'

export interface FunnelCount {
  type: FunnelType
  product_id: string
  count: number
}

/**
 * Adds to the counts of a day. A product that the store does not have is counted as none, so that the
 * rows are bounded by the catalog. Rows are locked in one order, whatever was sent.
 */
export const addToFunnel = (db: Db, day: string, shard: number, counts: readonly FunnelCount[]) =>
  db.run(sql`
    insert into funnel_days as d (tenant_ref, day, type, product_id, shard, count)
    select ${db.tenant}, ${day}::date, known.type, known.product_id, ${shard}, sum(known.count)
      from (select c.type, coalesce(p.id, ${NO_PRODUCT}::uuid) as product_id, c.count
              from jsonb_to_recordset(${JSON.stringify(counts)}::jsonb)
                   as c (type text, product_id uuid, count bigint)
              left join products p on p.tenant_ref = ${db.tenant} and p.id = c.product_id) as known
     group by known.type, known.product_id
     order by known.type, known.product_id
        on conflict (tenant_ref, day, type, product_id, shard) do update
       set count = d.count + excluded.count`)

/** By day and type. */
export const listFunnel = (db: Db, from: string, to: string) =>
  db.many(
    Type.Object({ day: Type.String(), type: Type.String(), count: Type.Integer() }),
    sql`
    select day::text as day, type, sum(count)::bigint as count
      from funnel_days
     where tenant_ref = ${db.tenant} and day between ${from} and ${to}
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
       and type = ${type}
       and (day, product_id) > (${after?.day ?? '0001-01-01'}::date,
                                ${after?.product_id ?? NO_PRODUCT}::uuid)
     group by day, funnel_days.product_id
     order by day, funnel_days.product_id
     limit ${limit}`,
  )
