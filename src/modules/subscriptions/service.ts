import { awaitAll } from '../../db/await-all.ts'
import type { Db, Tx } from '../../db/database.ts'
import { subscriptionCancelled } from './events.ts'
import * as queries from './queries.ts'
import type { NewSubscription, Origin, StartedSubscription, SubscriptionOfOrder } from './schema.ts'

/** Starts the subscriptions of an order, in the transaction that places it. */
export async function start(
  tx: Tx,
  origin: Origin,
  requested: readonly NewSubscription[],
): Promise<StartedSubscription[]> {
  if (requested.length === 0) return []
  return queries.insertSubscriptions(tx, origin, requested)
}

/** Lists the subscriptions that an order started, with any status. */
export const listOfOrder = (db: Db, order_id: string): Promise<SubscriptionOfOrder[]> =>
  queries.listOfOrder(db, order_id)

/**
 * Cancels the running subscriptions that an order started, in the transaction that cancels the order, so that the
 * customer is not charged again. Returns the cancelled subscriptions.
 */
export async function cancelOfOrder(tx: Tx, order_id: string): Promise<{ id: string }[]> {
  const cancelled = await queries.cancelOfOrder(tx, order_id)
  await awaitAll(
    cancelled.map((row) =>
      subscriptionCancelled.emit(
        tx,
        row,
        { status: 'cancelled', reason: 'order_cancelled' },
        order_id,
      ),
    ),
  )
  return cancelled
}
