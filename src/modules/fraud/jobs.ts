import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './queries.ts'

/** Hits per statement, so that neither a ban nor its hits are locked for long. */
const HITS_MAX = 1_000

/** Takes one step of the loop, as fd_worker: adds new hits to the counts of their bans. */
export async function addHitsToBans(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.listStoresWithHits(database.due)
  const addHits = async (tenant: string) =>
    (await queries.addHitsToBans(database.tenant(tenant), HITS_MAX)).added
  return forEachStore(stores, addHits, { signal })
}
