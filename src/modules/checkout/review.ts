import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Actor } from '../../platform/audit.ts'
import { STARTED, type StoredAnswer } from '../../platform/idempotency.ts'
import type { BanTerms } from '../fraud/schema.ts'
import * as fraud from '../fraud/service.ts'
import type { Caller } from '../operations/schema.ts'
import { cancelOperation } from '../order-changes/cancel-money.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { BanFromOrder, Rejection } from './review-schema.ts'
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

/** Bans the shopper of an order by the facts that the order has. */
export const banFromOrder = (db: TenantDb, actor: Actor, { order_id, ...wanted }: BanFromOrder) =>
  db.transaction('checkout: ban', (tx) => banShopper(tx, actor, order_id, wanted))

async function banShopper(
  tx: Tx,
  actor: Actor,
  order_id: string,
  wanted: BanTerms & Pick<BanFromOrder, 'kinds'>,
) {
  const order = await orders.get(tx, order_id)
  return fraud.banFacts(tx, actor, await factsOf(tx, order), wanted)
}

/** The facts of an order. Of the card only the fingerprint is stored. */
async function factsOf(db: Db, { id, customer_ref, email, ip, ship_to }: OrderRow) {
  const charges = await orders.listCharges(db, id)
  const card_fingerprint = charges.find((each) => each.card_fingerprint !== null)?.card_fingerprint
  return { customer_ref, email, ip, card_fingerprint, address: ship_to }
}
