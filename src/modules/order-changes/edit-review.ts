import type { Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import { scoreRisk } from '../fraud/score.ts'
import * as fraud from '../fraud/service.ts'
import { isHeldByDispute } from '../orders/dispute-hold.ts'
import { orderHeld } from '../orders/events.ts'
import type { OrderRow } from '../orders/schema.ts'
import { addToTimeline } from '../orders/service.ts'

/**
 * A ban with the decision `review` holds an edited order, too: the charge is kept, and the order
 * must not ship until a person releases it or cancels it.
 */

interface Reviewed {
  ban_ids: readonly string[]
}

const REASON = 'fraud_review'

/** Returns the hold that an edit needs, or null if no ban asks for it or the order is held for another reason. */
export function reviewOf({ clock }: Tx, order: OrderRow, { ban_ids }: Reviewed) {
  const isHeld = order.hold !== null && !isHeldByDispute(order)
  if (ban_ids.length === 0 || isHeld) return null
  return { reason: REASON, by: 'system', at: isoNow(clock) }
}

export function recordReview(tx: Tx, { id: order_id }: OrderRow, { ban_ids }: Reviewed) {
  const { decision, score, signals } = scoreRisk({ ban: 'review' })
  return fraud.record(tx, { order_id, decision, score, signals, ban_ids })
}

export const emitHeld = (tx: Tx, order: OrderRow, { reason }: { reason: string }) =>
  Promise.all([
    addToTimeline(tx, order.id, { type: 'held', actor: 'system', data: { reason } }),
    orderHeld.emit(tx, order, {}),
  ])
