import type { Database } from '../../db/database.ts'
import type { DueWork } from '../../platform/due-work.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './newsletter-queries.ts'

/** Requests of one store that one statement deletes. */
const ROWS_MAX = 1_000

/** One step, as fd_worker: deletes requests that their readers did not confirm in time. Returns how many. */
export async function deleteUnconfirmed(database: Database): Promise<number> {
  const stores = await queries.listStoresWithUnconfirmed(database.due)
  return forEachStore(stores, (tenant) =>
    queries.deleteUnconfirmed(database.tenant(tenant), ROWS_MAX),
  )
}

export const dueUnconfirmed: DueWork = {
  kind: 'newsletter_upkeep',
  nextDue: queries.nextUnconfirmed,
  async runDue(db) {
    const count = await queries.deleteUnconfirmed(db, ROWS_MAX)
    const outcome = `${count} unconfirmed deleted`
    return { count, ran: count === 0 ? [] : [{ id: null, outcome }] }
  },
}
