import type { Database } from '../../db/database.ts'
import * as queries from './queries.ts'

/** At a time, so that neither a ban nor its hits are locked for long. */
const HITS_MAX = 1_000

/** One step of the folding loop, as fd_worker: hits become part of their ban's count. */
export async function foldHits(database: Database, signal?: AbortSignal): Promise<number> {
  let total = 0
  for (const { tenant_ref } of await queries.listHitTenants(database.global)) {
    if (signal?.aborted) break
    total += (await queries.foldHits(database.tenant(tenant_ref), HITS_MAX)).folded
  }
  return total
}
