import type { Database, TenantDb } from '../../db/database.ts'
import { type DueWork, runEach } from '../../platform/due-work.ts'
import { forEachDue, forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './queries.ts'
import { deliverArrived } from './service.ts'

/** Stores of one step. The next step goes on with those after them. */
const STORES_MAX = 50

/** Parcels of one store in one step, each in a transaction of its own. The other stores wait for them. */
const BATCH = 20

/**
 * Takes one step, as fd_worker: delivers parcels that were shipped as many days ago as their store says.
 * Returns the number of parcels.
 */
export async function deliverParcels(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.deliveryTurns.next(database.due, STORES_MAX)
  return forEachStore(stores, (tenant) => deliverSome(database.tenant(tenant), signal), { signal })
}

const deliverSome = async (db: TenantDb, signal?: AbortSignal): Promise<number> =>
  forEachDue(await queries.listArrived(db, BATCH), ({ id }) => deliverArrived(db, id), { signal })

export const dueDeliveries: DueWork = {
  kind: 'parcel_delivery',
  nextDue: queries.nextArrival,
  runDue: async (db, signal) =>
    runEach(
      await queries.listArrived(db, BATCH),
      async ({ id }) =>
        (await deliverArrived(db, id)) === 0 ? null : { id, outcome: 'delivered' },
      signal,
    ),
}
