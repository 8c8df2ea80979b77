import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './queries.ts'

/** Erases the bodies of events older than 30 days; their rows stay. Returns the number of events. */
export async function eraseOldBodies(database: Database): Promise<number> {
  const stores = await queries.listStoresWithOldBodies(database.due)
  return forEachStore(stores, (tenant) => queries.eraseOldBodies(database.tenant(tenant)))
}
