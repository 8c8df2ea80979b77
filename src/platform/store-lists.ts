import { type Static, Type } from 'typebox'
import type { GlobalDb } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'

/** A store with work for a loop. */
export const StoreWithWork = Type.Object({ tenant_ref: Type.String() })
export type StoreWithWork = Static<typeof StoreWithWork>

/** All SQL here is constant: it is code, never input. */
interface DueRows {
  table: Sql
  /** Which rows are due. */
  due: Sql
  /** The column that has an index for just these rows. */
  oldestBy: Sql
  /** How many rows are read. Stores whose rows come later are listed when these rows are done. */
  limit: number
}

/** Lists the stores of the oldest due rows, as fd_worker over all stores. */
export const listStoresDue = (worker: GlobalDb, { table, due, oldestBy, limit }: DueRows) =>
  worker.many(
    StoreWithWork,
    sql`
    select distinct tenant_ref
      from (select tenant_ref from ${table} where ${due} order by ${oldestBy} limit ${limit})
        as oldest`,
  )

/**
 * Lists the stores that have rows in a table. Steps from one store to the next by the index, past
 * however many rows each has.
 */
export const listStoresIn = (worker: GlobalDb, table: Sql) =>
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
