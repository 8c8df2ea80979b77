import type { Database, TenantDb } from '../../db/database.ts'
import { type DueWork, runEach } from '../../platform/due-work.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { expireLots } from './money.ts'
import * as queries from './queries.ts'

/** How many stores one step of the expiry has. The next step goes on with the stores after them. */
const STORES_MAX = 50

/** How many accounts of one store one step checks, each in a transaction of its own. The other stores wait for them. */
const BATCH = 20

/** Runs one step of the expiry loop, as fd_worker. Returns the number of accounts that were checked. */
export async function expireDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.expiryTurns.next(database.due, STORES_MAX)
  return forEachStore(stores, (tenant) => expireSome(database.tenant(tenant), signal), { signal })
}

const expireSome = async (db: TenantDb, signal?: AbortSignal): Promise<number> =>
  forEachDue(
    await queries.listAccountsToExpire(db, BATCH),
    async ({ account_id }) => {
      await expireAccount(db, account_id)
      return 1
    },
    { signal },
  )

export const dueExpiry: DueWork = {
  kind: 'store_credit_expiry',
  nextDue: queries.nextExpiry,
  runDue: async (db, signal) =>
    runEach(
      await queries.listAccountsToExpire(db, BATCH),
      async ({ account_id: id }) => {
        const outcome = (await expireAccount(db, id)) ? 'expired' : 'held by an order'
        return { id, outcome }
      },
      signal,
    ),
}

/**
 * Expires the lots of an account. Returns whether anything has expired. Lots that are held for an order are checked
 * again later.
 */
const expireAccount = (db: TenantDb, id: string): Promise<boolean> =>
  db.transaction('store credit: expire', async (tx) => {
    const account = await queries.lockAccount(tx, id)
    const after = await expireLots(tx, account)
    await queries.postponeExpiry(tx, id)
    return after !== account
  })
