import type { Database, TenantDb } from '../../db/database.ts'
import { type DueWork, runEach } from '../../platform/due-work.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import { expireLots } from './money.ts'
import * as queries from './queries.ts'

/** Stores of one step of the expiry. The next step goes on with those after them. */
const STORES_MAX = 50

/** Accounts of one store in one step, each in a transaction of its own. The other stores wait for them. */
const BATCH = 20

/** One step of the expiry loop, as fd_worker. Answers the number of accounts that were checked. */
export async function expireDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.expiryTurns.next(database.global, STORES_MAX)
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

/** Answers whether anything has expired. What an order holds is checked again later. */
const expireAccount = (db: TenantDb, id: string): Promise<boolean> =>
  db.transaction('store credit: expire', async (tx) => {
    const account = await queries.lockAccount(tx, id)
    const after = await expireLots(tx, account)
    await queries.postponeExpiry(tx, id)
    return after !== account
  })
