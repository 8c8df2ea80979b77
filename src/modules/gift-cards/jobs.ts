import type { Database } from '../../db/database.ts'
import { eachStore } from '../../platform/each-store.ts'
import { expire } from './money.ts'
import * as queries from './queries.ts'

/** Rows looked at to find out whose they are. */
const SAMPLE_ROWS = 1_000

/** Cards expired in one transaction, and so the longest that one of them stays locked. */
const BATCH = 50

/** One step of the expiry loop, as fd_worker. Answers how many cards expired. */
export async function expireDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.listTenantsToExpire(database.global, SAMPLE_ROWS)
  const expireSome = (tenant: string) =>
    database.tenant(tenant).transaction('gift cards: expire', async (tx) => {
      const cards = await queries.lockDue(tx, BATCH)
      for (const card of cards) await expire(tx, card)
      return cards.length
    })
  return eachStore(stores, expireSome, { signal })
}

/** One step of forgetting codes that no replay shows any more. Answers how many were forgotten. */
export async function forgetCodes(database: Database): Promise<number> {
  const stores = await queries.listTenantsToForget(database.global, SAMPLE_ROWS)
  return eachStore(stores, (tenant) => queries.forgetCodes(database.tenant(tenant)))
}
