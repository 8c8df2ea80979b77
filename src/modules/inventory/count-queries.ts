import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { Count, CountHead, type CountState } from './count-schema.ts'

const headColumns = sql`
  c.id, c.location_id, c.status, c.created_at, c.updated_at, c.posted_at, c.cancelled_at`

export interface CountFilters {
  status: CountState | undefined
}

/** Lists the cycle counts, newest first. */
export const listCounts = (db: Db, { status }: CountFilters, page: Page) =>
  readList(
    db,
    {
      shape: CountHead,
      table: sql`stock_counts`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: status === undefined ? [] : [sql`c.status = ${status}`],
      key: NEWEST_KEY,
      descending: true,
      columns: headColumns,
    },
    page,
  )

export const findCount = (db: Db, id: string) =>
  db.maybe(
    Count,
    sql`
    select ${headColumns},
           coalesce((select json_agg(json_build_object(
                              'variant_id', l.variant_id, 'sku', v.sku, 'expected', l.expected,
                              'counted', l.counted, 'moved', l.moved,
                              'difference', l.counted - l.expected - l.moved,
                              'reason', l.reason) order by v.sku)
                       from stock_count_lines l
                       join variants v on v.tenant_ref = ${db.tenant} and v.id = l.variant_id
                      where l.tenant_ref = ${db.tenant} and l.count_id = c.id), '[]') as lines
      from stock_counts c
     where c.tenant_ref = ${db.tenant} and c.id = ${id}`,
  )

export const lockCount = (tx: Tx, id: string) =>
  tx.maybe(
    CountHead,
    sql`
    select ${headColumns} from stock_counts c
     where c.tenant_ref = ${tx.tenant} and c.id = ${id}
       for no key update`,
  )

export const insertCount = (
  tx: Tx,
  { id, location_id, created_by }: { id: string; location_id: string; created_by: string },
) =>
  tx.run(sql`
    insert into stock_counts (tenant_ref, id, location_id, created_by)
    values (${tx.tenant}, ${id}, ${location_id}, ${created_by})`)

/** Lists the variants that have a level at a location, at most `limit`. */
export const listVariantsAt = (db: Db, location_id: string, limit: number) =>
  db.many(
    Type.Object({ variant_id: Id }),
    sql`
    select variant_id from inventory_levels
     where tenant_ref = ${db.tenant} and location_id = ${location_id}
     limit ${limit}`,
  )

/** Inserts the lines of a count with the units that are on hand at this moment. */
export const insertLines = (
  tx: Tx,
  count_id: string,
  location_id: string,
  variant_ids: readonly string[],
) =>
  tx.run(sql`
    insert into stock_count_lines (tenant_ref, count_id, variant_id, location_id, expected)
    select ${tx.tenant}, ${count_id}::uuid, variant_id, location_id, on_hand
      from inventory_levels
     where tenant_ref = ${tx.tenant} and location_id = ${location_id}
       and variant_id = any (${variant_ids}::uuid[])
     order by variant_id`)

export interface CountedLine {
  variant_id: string
  counted: number | null
  as_of: 'beginning' | 'now'
  reason: string | null
}

/** Enters counted units. Returns how many of the lines exist. The levels of lines counted now are locked. */
export const writeLines = (tx: Tx, count_id: string, lines: readonly CountedLine[]) =>
  tx.run(sql`
    update stock_count_lines l
       set counted = n.counted, reason = n.reason,
           moved = case when n.as_of = 'now' and n.counted is not null
                        then v.on_hand - l.expected else 0 end
      from unnest(${lines.map((each) => each.variant_id)}::uuid[],
                  ${lines.map((each) => each.counted)}::bigint[],
                  ${lines.map((each) => each.as_of)}::text[],
                  ${lines.map((each) => each.reason)}::text[])
           as n (variant_id, counted, as_of, reason)
      join inventory_levels v on v.tenant_ref = ${tx.tenant} and v.variant_id = n.variant_id
     where l.tenant_ref = ${tx.tenant} and l.count_id = ${count_id}
       and l.variant_id = n.variant_id and v.location_id = l.location_id`)

export const touchCount = (tx: Tx, id: string) =>
  tx.run(sql`
    update stock_counts set updated_at = fd_now() where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Ends a count. Its levels can be counted again. */
export const endCount = (tx: Tx, id: string, status: 'posted' | 'cancelled') =>
  tx.run(sql`
    with closed as (
      update stock_count_lines set is_open = false
       where tenant_ref = ${tx.tenant} and count_id = ${id}
    )
    update stock_counts
       set status = ${status}, updated_at = fd_now(),
           posted_at = case when ${status}::text = 'posted' then fd_now() end,
           cancelled_at = case when ${status}::text = 'cancelled' then fd_now() end
     where tenant_ref = ${tx.tenant} and id = ${id}`)
