import type { Tx } from '../../db/database.ts'
import { rewriteAnswersOf } from '../../platform/idempotency-erase.ts'
import { eraseShipments } from './adapters/simulated/queries.ts'
import * as queries from './queries.ts'

/** The labels of a customer's orders, for erasure. The privacy export has what they say in the parcels. */

const PERSONAL: readonly string[] = ['tracking_number', 'tracking_url']

/** Erases what leads a carrier to the person: from the labels, their stored answers, and our own carrier. */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
): Promise<readonly string[]> {
  const ids = (await queries.eraseTracking(tx, order_ids)).map(({ id }) => id)
  if (ids.length === 0) return []
  await eraseShipments(tx, ids)
  await rewriteAnswersOf(tx, ids, (body) =>
    JSON.stringify(JSON.parse(body), (name, value: unknown) =>
      PERSONAL.includes(name) ? null : value,
    ),
  )
  return []
}
