import type { TenantDb } from '../../db/database.ts'
import { SYSTEM } from '../../platform/audit.ts'
import * as orderRows from '../orders/money.ts'
import * as orders from '../orders/service.ts'
import type { Attempt } from '../payments/schema.ts'

/** The gateway's record shows a dispute. Told twice, nothing happens again. */
export async function dispute(db: TenantDb, { id, order_id, txn_id }: Attempt): Promise<void> {
  await db.transaction('checkout: dispute', async (tx) => {
    const order = await orders.lock(tx, order_id)
    if (!orderRows.isDisputable(order)) return
    await orderRows.openDispute(tx, order, { by: SYSTEM.name, attempt_id: id, txn_id })
  })
}
