import type { Tx } from '../../db/database.ts'
import * as queries from './customer-queries.ts'
import { eraseRequested } from './seal-queries.ts'

/** Like `eraseCustomer`, at most so many events at a time. Answers how many; 0 when all is done. */
export async function eraseSome(tx: Tx, customer_ref: string, limit: number): Promise<number> {
  const requested = await queries.requestErasure(tx, customer_ref, limit)
  if (requested > 0) await eraseRequested(tx)
  return requested
}

export const listEvents = queries.listEvents
