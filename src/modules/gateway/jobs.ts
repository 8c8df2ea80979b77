import type { Database } from '../../db/database.ts'
import { eachStore } from '../../platform/each-store.ts'
import * as queries from './queries.ts'

/** Forgets what was sent more than 30 days ago; that it was sent stays known. Answers how many. */
export async function forgetBodies(database: Database): Promise<number> {
  const stores = await queries.listWithOldBodies(database.global)
  return eachStore(stores, (tenant) => queries.dropOldBodies(database.tenant(tenant)))
}
