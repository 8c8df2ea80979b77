import { Type } from 'typebox'
import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { unlessBusy } from '../db/unless-busy.ts'

/**
 * Lets the plans that PostgreSQL keeps for all stores suppose a big one, from 100 stores on (decision 0068): in tables that
 * are new, or all when the hundredth store comes. Always answers 0, nothing left to do.
 */
export async function planForBigStores(database: Database, signal?: AbortSignal): Promise<number> {
  while (!signal?.aborted) {
    const one = await unlessBusy(() =>
      database.global.one(
        Type.Object({ planned: Type.Union([Type.String(), Type.Null()]) }),
        sql`select fd_plan_for_big_stores() as planned`,
      ),
    )
    if (one === null || one.planned === null) break
  }
  return 0
}
