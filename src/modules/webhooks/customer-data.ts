import type { Tx } from '../../db/database.ts'
import type { Renamed } from '../face-parts.ts'
import * as queries from './customer-queries.ts'
import { eraseRequested } from './numbering-queries.ts'
import { lockContents } from './queries.ts'

/** The data of a customer in events, for the privacy export and for erasure. */

/**
 * Erases a customer's data from the events of erased orders. An event with a pending delivery is
 * delivered first, and the worker erases it afterwards.
 */
export async function eraseOrders(
  tx: Tx,
  order_ids: readonly string[],
  { customer_refs }: Renamed,
): Promise<readonly string[]> {
  await lockContents(tx)
  const requested = await queries.requestErasureOfOrders(tx, customer_refs, order_ids)
  if (requested > 0) await eraseRequested(tx)
  return []
}

/**
 * Erases a customer's data from at most `limit` events that are about no order. Returns the number of events; 0 when
 * none is left.
 */
export async function eraseSome(
  tx: Tx,
  customer_ref: string,
  which: { before: string; limit: number },
): Promise<number> {
  await lockContents(tx)
  const requested = await queries.requestErasure(tx, customer_ref, which)
  if (requested > 0) await eraseRequested(tx)
  return requested
}

export const listEvents = queries.listEvents
