import type { Db, Tx } from '../../db/database.ts'
import { rewriteAnswersBy } from '../../platform/idempotency-erase.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import * as queries from './queries.ts'
import { KEYED } from './schema.ts'
import { shown } from './service.ts'

/** The parcels of a customer's orders, for the privacy export and erasure. */

/** Lists the parcels of orders, by order. */
export async function listOfOrders(
  db: Db,
  order_ids: readonly string[],
): Promise<Map<string, Fulfillment[]>> {
  const parcels = (await queries.listOfOrders(db, order_ids)).map(shown)
  return Map.groupBy(parcels, ({ order_id }) => order_id)
}

/**
 * Erases everything by which a carrier could identify the person: from the parcels, and from the answers of keys that
 * shipped them.
 */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
): Promise<readonly string[]> {
  const ids = (await queries.eraseTracking(tx, order_ids)).map(({ id }) => id)
  if (ids.length === 0) return []
  await rewriteAnswersBy(tx, Object.values(KEYED), ids, (body) => eraseNumbers(body, ids))
  return []
}

/**
 * Removes the numbers of these parcels from an answer. It may also have numbers of other people's parcels, which stay.
 */
const eraseNumbers = (body: string, ids: readonly string[]): string =>
  JSON.stringify(JSON.parse(body), (_, value: unknown) =>
    isParcel(value) && ids.includes(value.id)
      ? { ...value, tracking_number: null, tracking_url: null }
      : value,
  )

const isParcel = (value: unknown): value is { id: string } =>
  typeof value === 'object' && value !== null && 'id' in value && 'tracking_number' in value
