import type { TenantDb } from '../../db/database.ts'
import { SYSTEM } from '../../platform/audit.ts'
import * as orderRows from '../orders/money.ts'
import * as orders from '../orders/service.ts'
import type { Attempt } from '../payments/schema.ts'

/**
 * The gateway's record shows a dispute. Answers whether the order does, too: one that is over is not
 * opened again by an event that comes late, and what was not captured has none.
 */
export async function dispute(db: TenantDb, { id, order_id, txn_id }: Attempt): Promise<boolean> {
  return db.transaction('checkout: dispute', async (tx) => {
    const order = await orders.lock(tx, order_id)
    if (order.disputed) return true
    if (!orderRows.isDisputable(order)) return false
    if ((await orderRows.findDisputed(tx, order_id, id)) !== null) return false
    await orderRows.openDispute(tx, order, { by: SYSTEM.name, attempt_id: id, txn_id })
    return true
  })
}
