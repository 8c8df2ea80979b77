import { type Static, Type } from 'typebox'
import type { Db, DueLists } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

/** A store with work for a loop. */
export const StoreWithWork = Type.Object({ tenant_ref: Type.String() })
export type StoreWithWork = Static<typeof StoreWithWork>

/** The rows of a table that are deleted when they are old. All SQL here is constant: it is code, never input. */
export interface OldRows {
  /** The table. It has no partitions: `areOldest` names its rows by their place. */
  table: Sql
  /** The condition for rows that grow old. They have an index by (tenant_ref, since). */
  only: Sql
  /** The time since which a row has met `only`. */
  since: Sql
  /** Rows since before this time are old. */
  before: Sql
}

/** How many stores one step of an upkeep has. The others have their turn in the next one. */
const STORES_MAX = 1_000

/**
 * Lists stores with old rows, as fd_worker over all stores. It steps by the index to the oldest row of each store,
 * however many rows it has. The columns are compared as a pair, as the index has them.
 */
export async function listStoresWithOld(
  worker: DueLists,
  { table, only, since, before }: OldRows,
): Promise<StoreWithWork[]> {
  const stores = await worker.many(
    StoreWithWork,
    sql`
    with recursive oldest as (
      (select tenant_ref, ${since} as since
         from ${table}
        where ${only}
        order by tenant_ref, ${since}
        limit 1)
      union all
      select following.*
        from oldest
       cross join lateral (
         select tenant_ref, ${since}
           from ${table}
          where (tenant_ref, ${since}) > (oldest.tenant_ref, 'infinity') and ${only}
          order by tenant_ref, ${since}
          limit 1) as following
    )
    select tenant_ref from oldest where since < ${before} limit ${STORES_MAX}`,
  )
  return withMovedClocks(worker, stores)
}

/**
 * The condition for the rows of a store that have been old for the longest, at most `limit`. Locked rows are left for
 * later. The rows are chosen in an array, which PostgreSQL computes once. It may read an `in (select ...)` again for
 * each row, and each time find other rows than those that the statement has already written.
 */
export const areOldest = (db: Db, { table, only, since, before }: OldRows, limit: number) => sql`
  tenant_ref = ${db.tenant}
  and ctid = any(array(select ctid
                         from ${table}
                        where tenant_ref = ${db.tenant} and ${only} and ${since} < ${before}
                        order by ${since}
                        limit ${limit}
                          for update skip locked))`

/**
 * Adds the stores whose clock is ahead, which have more old rows than a statement on machine time finds: the work
 * then selects its rows by the store's own time. Leaves out the stores whose clock is being moved.
 */
export function withMovedClocks(
  { clocks }: DueLists,
  stores: readonly StoreWithWork[],
): StoreWithWork[] {
  const names = new Set([...stores.map((store) => store.tenant_ref), ...clocks.ahead().keys()])
  return [...names.difference(clocks.moving())].map((tenant_ref) => ({ tenant_ref }))
}

/**
 * Lists the stores that have rows in a table. Steps from one store to the next by the index, however many rows each
 * has.
 */
export const listStoresIn = (worker: DueLists, table: Sql) =>
  worker.many(
    StoreWithWork,
    sql`
    with recursive tenants as (
      select min(tenant_ref) as tenant_ref from ${table}
      union all
      select (select min(r.tenant_ref) from ${table} r where r.tenant_ref > tenants.tenant_ref)
        from tenants
       where tenants.tenant_ref is not null
    )
    select tenant_ref from tenants where tenant_ref is not null`,
  )
