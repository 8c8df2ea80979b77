import type { Db, Tx } from '../../db/database.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import * as queries from './queries.ts'
import { shown } from './service.ts'

/** The parcels of a customer's orders, for the privacy export and erasure. */

/** By order. */
export async function listOfOrders(
  db: Db,
  order_ids: readonly string[],
): Promise<Map<string, Fulfillment[]>> {
  const parcels = (await queries.listOfOrders(db, order_ids)).map(shown)
  return Map.groupBy(parcels, ({ order_id }) => order_id)
}

/** Erases by what a carrier knows the person. */
export const eraseOrders = (tx: Tx, order_ids: readonly string[]) =>
  queries.eraseTracking(tx, order_ids)
