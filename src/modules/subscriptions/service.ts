import { awaitAll } from '../../db/await-all.ts'
import type { Db, Tx } from '../../db/database.ts'
import { addByCalendar, dayOfMonth } from '../../kernel/time.ts'
import * as webhooks from '../webhooks/service.ts'
import * as queries from './queries.ts'
import type {
  BegunSubscription,
  DatedSubscription,
  NewSubscription,
  Origin,
  StartedSubscription,
} from './schema.ts'

/** Starts what an order subscribed to, in the transaction that places it. */
export async function start(
  tx: Tx,
  origin: Origin,
  wanted: readonly NewSubscription[],
): Promise<StartedSubscription[]> {
  if (wanted.length === 0) return []
  return queries.insertSubscriptions(
    tx,
    origin,
    wanted.map((each) => dated(origin, each)),
  )
}

/** The calendar is the store's: what is begun on a first of the month there is charged on a first. */
function dated({ time_zone, at }: Origin, wanted: NewSubscription): DatedSubscription {
  const begun = new Date(at)
  const next = addByCalendar(time_zone, begun, wanted.interval_count, wanted.interval)
  return {
    ...wanted,
    anchor_day: dayOfMonth(time_zone, begun),
    next_charge_at: next.toISOString(),
  }
}

/** What an order has begun, whatever became of it. */
export const listOfOrder = (db: Db, order_id: string): Promise<BegunSubscription[]> =>
  queries.listOfOrder(db, order_id)

/**
 * Ends what an order has begun and still runs, in the transaction that cancels the order: nobody is
 * charged again for what they never got. Answers with what it ended.
 */
export async function endOfOrder(tx: Tx, order_id: string): Promise<{ id: string }[]> {
  const ended = await queries.cancelOfOrder(tx, order_id)
  await awaitAll(
    ended.map(({ customer_ref, ...subscription }) =>
      webhooks.emit(tx, {
        type: 'commerce.subscription.cancelled.v1',
        order_id,
        customer_ref,
        data: { subscription },
      }),
    ),
  )
  return ended
}
