import type { TenantDb } from '../../db/database.ts'
import * as orderRows from '../orders/money.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { Attempt } from '../payments/schema.ts'
import * as webhooks from '../webhooks/service.ts'

/**
 * A card's holder wants the money back. The order says so from now on, and what has not left yet is
 * held. No money moves: the bank decides later who keeps it. Told twice, nothing happens again.
 */
export async function dispute(db: TenantDb, { id, order_id, txn_id }: Attempt): Promise<void> {
  await db.transaction('checkout: dispute', async (tx) => {
    const order = await orders.lock(tx, order_id)
    if (order.disputed || order.captured_cents === 0) return
    const at = new Date().toISOString()
    const held = isHoldable(order)
    const hold = { hold: { reason: 'dispute', by: 'system', at } }
    await Promise.all([
      orders.change(tx, order, { disputed_at: at, ...(held && hold) }, at),
      orderRows.insertTimeline(tx, order_id, {
        type: 'disputed',
        actor: 'system',
        data: { attempt_id: id, txn_id },
      }),
      webhooks.emit(tx, {
        type: 'commerce.dispute.opened.v1',
        order_id,
        data: { order_id, order_number: order.order_number, txn_id },
      }),
      held &&
        webhooks.emit(tx, {
          type: 'commerce.order.held.v1',
          order_id,
          data: { order_id, reason: 'dispute' },
        }),
    ])
  })
}

/** Something is still to be sent, and nobody holds it already. */
function isHoldable(order: OrderRow): boolean {
  const open = order.q_ordered - order.q_cancelled
  return order.cancelled_at === null && order.hold === null && order.q_shipped < open
}
