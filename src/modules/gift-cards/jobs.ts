import type { Database, TenantDb } from '../../db/database.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { expire } from './money.ts'
import * as queries from './queries.ts'

/** Rows looked at to find out whose they are. */
const SAMPLE_ROWS = 1_000

/** Codes of one store forgotten in one statement, and so the most cards that it has locked. */
const CODES_MAX = 1_000

/** Cards of one store in one step, each in a transaction of its own. */
const BATCH = 100

/** One step of the expiry loop, as fd_worker. Answers how many cards expired. */
export async function expireDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.listTenantsToExpire(database.global, SAMPLE_ROWS)
  return forEachStore(stores, (tenant) => expireSome(database.tenant(tenant), signal), { signal })
}

const expireSome = async (db: TenantDb, signal?: AbortSignal): Promise<number> =>
  forEachDue(await queries.listDue(db, BATCH), ({ id }) => expireCard(db, id), { signal })

const expireCard = (db: TenantDb, id: string): Promise<number> =>
  db.transaction('gift cards: expire', async (tx) => {
    const card = await queries.lockDue(tx, id)
    if (card !== null) await expire(tx, card)
    return card === null ? 0 : 1
  })

/** One step of forgetting codes that no replay shows any more. Answers how many were forgotten. */
export async function forgetCodes(database: Database): Promise<number> {
  const stores = await queries.listTenantsToForget(database.global, SAMPLE_ROWS)
  return forEachStore(stores, (tenant) => queries.forgetCodes(database.tenant(tenant), CODES_MAX))
}
