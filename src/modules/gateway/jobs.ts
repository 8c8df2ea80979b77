import type { Database } from '../../db/database.ts'
import * as queries from './queries.ts'

/** Forgets what was sent more than 30 days ago; that it was sent stays known. Answers how many. */
export async function forgetBodies(database: Database): Promise<number> {
  let forgotten = 0
  for (const { tenant_ref } of await queries.listWithOldBodies(database.global)) {
    forgotten += await queries.dropOldBodies(database.tenant(tenant_ref))
  }
  return forgotten
}
