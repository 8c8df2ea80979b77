import type { Tx } from '../../db/database.ts'
import * as queries from './queries.ts'
import type { NewSubscription, Origin, StartedSubscription } from './schema.ts'

/** Starts what an order subscribed to, in the transaction that places it. */
export async function start(
  tx: Tx,
  origin: Origin,
  wanted: readonly NewSubscription[],
): Promise<StartedSubscription[]> {
  return wanted.length === 0 ? [] : queries.insertSubscriptions(tx, origin, wanted)
}
