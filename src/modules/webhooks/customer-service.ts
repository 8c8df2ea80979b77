import type { Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'
import { lockContents } from './queries.ts'
import { eraseRequested } from './seal-queries.ts'

/**
 * Takes a customer's data out of at most so many events. One that is still being delivered is sent first,
 * and erased by the worker after that. Answers how many; 0 when all is done.
 */
export async function eraseSome(tx: Tx, customer_ref: string, limit: number): Promise<number> {
  await lockContents(tx)
  const requested = await queries.requestErasure(tx, customer_ref, limit)
  if (requested > 0) await eraseRequested(tx)
  return requested
}

export const listEvents = queries.listEvents
