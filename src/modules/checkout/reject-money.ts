import type { TenantDb, Tx } from '../../db/database.ts'
import { STARTED, type StoredAnswer } from '../../platform/idempotency.ts'
import type { Caller } from '../operations/schema.ts'
import { cancelOperation } from '../order-changes/cancel-money.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { banShopper } from './ban-from-order.ts'
import type { Rejection } from './review-schema.ts'
import type { CheckoutDeps } from './service.ts'

/** Rejects a held order: cancels it, and bans its shopper if asked to. */
export async function reject(
  deps: CheckoutDeps,
  db: TenantDb,
  caller: Caller,
  { orderId, note = null, ban }: Rejection & { orderId: string },
): Promise<StoredAnswer> {
  if (caller.claim.recoveryPoint === STARTED) {
    orders.requireAllowed(await orders.get(db, orderId), 'reject')
  }
  // Under the order's lock: the shopper of an order that was released in the meantime is not banned.
  const also = async (tx: Tx, { id }: OrderRow) => {
    if (ban) await banShopper(tx, caller.actor, id, ban)
  }
  const terms = { reason: 'fraud', note, restock: true, as: 'reject' } as const
  return cancelOperation.run(deps, db, caller, { orderId, ...terms, also })
}
