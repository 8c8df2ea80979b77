import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './queries.ts'

/** Forgets what was sent more than 30 days ago; that it was sent stays known. Answers how many. */
export async function forgetBodies(database: Database): Promise<number> {
  const stores = await queries.listWithOldBodies(database.global)
  return forEachStore(stores, (tenant) => queries.dropOldBodies(database.tenant(tenant)))
}
