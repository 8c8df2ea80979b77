import type { Tx } from '../../db/database.ts'
import * as fraud from '../fraud/service.ts'
import * as webhooks from '../webhooks/service.ts'
import { isHeldByDispute } from './dispute-money.ts'
import { insertTimeline } from './queries.ts'
import type { OrderRow } from './schema.ts'
import { forMerchant } from './service.ts'

/**
 * A ban that asks for a look does so for an edit, too: what it charges is paid, and nothing of the
 * order leaves until a person has released it, or has given all of it back.
 */

interface Reviewed {
  ban_ids: readonly string[]
}

const REASON = 'fraud_review'

/**
 * How the order is held for it. Null where nobody needs to look, or it is held already: until somebody
 * releases it, and not only until a dispute is over.
 */
export function reviewOf(order: OrderRow, { ban_ids }: Reviewed) {
  const isHeld = order.hold !== null && !isHeldByDispute(order)
  if (ban_ids.length === 0 || isHeld) return null
  return { reason: REASON, by: 'system', at: new Date().toISOString() }
}

/** What was found, for the log and for whoever looks. */
export function recordReview(tx: Tx, { id: order_id }: OrderRow, { ban_ids }: Reviewed) {
  const { decision, score, signals } = fraud.score({ ban: 'review' })
  return fraud.record(tx, { order_id, decision, score, signals, ban_ids })
}

export const tellHeld = (tx: Tx, order: OrderRow, { reason }: { reason: string }) =>
  Promise.all([
    insertTimeline(tx, order.id, { type: 'held', actor: 'system', data: { reason } }),
    webhooks.emit(tx, {
      type: 'commerce.order.held.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: forMerchant(order) },
    }),
  ])
