import type { Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'
import { eraseRequested } from './numbering-queries.ts'
import { lockContents } from './queries.ts'

/** A customer's data in events, for the privacy export and for erasure. */

/**
 * Erases a customer's data from at most `limit` events. An event with a pending delivery is delivered
 * first, and the worker erases it afterwards. Answers the number of events; 0 when none is left.
 */
export async function eraseSome(tx: Tx, customer_ref: string, limit: number): Promise<number> {
  await lockContents(tx)
  const requested = await queries.requestErasure(tx, customer_ref, limit)
  if (requested > 0) await eraseRequested(tx)
  return requested
}

export const listEvents = queries.listEvents
