import type { Db } from '../../db/database.ts'
import * as returnStock from '../inventory/return-stock.ts'
import { listRefundedUnits, readRefundable } from '../order-changes/refund-units.ts'
import { sumPaidOfFailed } from '../order-changes/service.ts'
import * as orders from '../orders/service.ts'
import { sumTaken } from './exchange-queries.ts'
import type { MoneyFacts } from './plan-receipt.ts'
import * as queries from './queries.ts'
import * as receipts from './receipt-queries.ts'
import type { LockedReturn } from './service.ts'

/** Reads the facts by which the money of a return is planned, for a receipt and for an exchange. */
export async function readMoneyFacts(
  db: Db,
  { returned, order }: LockedReturn,
): Promise<MoneyFacts> {
  const [items, refundable, refundedUnits, settled, tracked, settlement, taken] = await Promise.all(
    [
      orders.listItems(db, order.id),
      readRefundable(db, order),
      listRefundedUnits(db, order.id),
      queries.sumSettled(
        db,
        returned.lines.map(({ order_item_id }) => order_item_id),
      ),
      returnStock.trackedOf(
        db,
        returned.lines.map(({ variant_id }) => variant_id),
      ),
      receipts.readSettlement(db, returned.id),
      sumTaken(db, returned.id),
    ],
  )
  const paid = await sumPaidOfFailed(db, settlement.failed)
  return {
    order,
    returned,
    items,
    refundable,
    refundedUnits,
    settled,
    tracked,
    given_cents: paid + taken.to_deduct_cents - settlement.deducted_cents,
    waived_cents: Math.max(0, settlement.waived_cents - taken.from_waived_cents),
  }
}
