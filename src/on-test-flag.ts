import { followOrder } from './modules/affiliates/follow-money.ts'
import { flagTest as flagInFigures } from './modules/analytics/count.ts'
import { flagTest as flagInUsage } from './modules/billing/meter.ts'
import type { OnTestFlag } from './modules/orders/annotate.ts'
import * as segmentCount from './modules/segments/count.ts'

/**
 * Applies the test mark of an order: reports, segments and bills leave a test order out, and it earns no affiliate a
 * commission.
 */
export const onTestFlag: OnTestFlag = async (tx, order, is_test) => {
  await flagInFigures(tx, order, is_test)
  await flagInUsage(tx, order, is_test)
  await segmentCount.onTestFlag(tx, order)
  await followOrder(tx, { ...order, is_test }, { reason: 'test_order', ref: order.id })
}
