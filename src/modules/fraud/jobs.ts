import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './queries.ts'

/** At a time, so that neither a ban nor its hits are locked for long. */
const HITS_MAX = 1_000

/** One step of the folding loop, as fd_worker: hits become part of their ban's count. */
export async function foldHits(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.listHitTenants(database.global)
  const fold = async (tenant: string) =>
    (await queries.foldHits(database.tenant(tenant), HITS_MAX)).folded
  return forEachStore(stores, fold, { signal })
}
