import type { Database, TenantDb } from '../../db/database.ts'
import { type DueWork, runEach } from '../../platform/due-work.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { expire } from './money.ts'
import * as queries from './queries.ts'

/** Codes of one store that one statement erases: the most cards that it locks. */
const CODES_MAX = 1_000

/** The most stores of one step of the expiry. The next step continues with the stores after them. */
const STORES_MAX = 50

/** Cards of one store in one step, each in a transaction of its own. The other stores wait for them. */
const BATCH = 20

/** One step of the expiry loop, as fd_worker. Returns the number of expired cards. */
export async function expireDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.expiryTurns.next(database.due, STORES_MAX)
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

export const dueExpiry: DueWork = {
  kind: 'gift_card_expiry',
  nextDue: queries.nextExpiry,
  runDue: async (db, signal) =>
    runEach(
      await queries.listDue(db, BATCH),
      async ({ id }) => ((await expireCard(db, id)) === 0 ? null : { id, outcome: 'expired' }),
      signal,
    ),
}

/**
 * One step of the loop that erases codes once neither a replay nor a mail needs them, as fd_worker.
 * Returns the number of codes.
 */
export async function eraseOldCodes(database: Database): Promise<number> {
  const stores = await queries.listStoresWithOldCodes(database.due)
  return forEachStore(stores, (tenant) => queries.eraseOldCodes(database.tenant(tenant), CODES_MAX))
}
