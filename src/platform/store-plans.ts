import { Type } from 'typebox'
import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { unlessBusy } from '../db/unless-busy.ts'

/**
 * Makes the plans that PostgreSQL keeps for all stores assume a big store, from 100 stores on (decision 0068): those
 * of new tables, or of all tables when the hundredth store comes. Always returns 0: nothing is left to do.
 */
export async function planForBigStores(database: Database, signal?: AbortSignal): Promise<number> {
  while (!signal?.aborted) {
    const one = await unlessBusy(() =>
      database.server.one(
        Type.Object({ planned: Type.Union([Type.String(), Type.Null()]) }),
        sql`select fd_plan_for_big_stores() as planned`,
      ),
    )
    if (one === null || one.planned === null) break
  }
  return 0
}
