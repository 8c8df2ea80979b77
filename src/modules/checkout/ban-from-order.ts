import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { Actor } from '../../platform/audit.ts'
import type { BanTerms } from '../fraud/schema.ts'
import * as fraud from '../fraud/service.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { BanFromOrder } from './review-schema.ts'

/** Bans the shopper of an order by the facts that the order has. */
export const banFromOrder = (db: TenantDb, actor: Actor, { order_id, ...terms }: BanFromOrder) =>
  db.transaction('checkout: ban', (tx) => banShopper(tx, actor, order_id, terms))

/** Bans the shopper of an order, like `banFromOrder`, within a transaction. */
export async function banShopper(
  tx: Tx,
  actor: Actor,
  order_id: string,
  terms: BanTerms & Pick<BanFromOrder, 'kinds'>,
) {
  const order = await orders.get(tx, order_id)
  return fraud.banFacts(tx, actor, await factsOf(tx, order), terms)
}

/** The facts of an order. Of the card only the fingerprint is stored. */
async function factsOf(db: Db, { id, customer_ref, email, ip, ship_to }: OrderRow) {
  const charges = await orders.listCharges(db, id)
  const card_fingerprint = charges.find((each) => each.card_fingerprint !== null)?.card_fingerprint
  return { customer_ref, email, ip, card_fingerprint, address: ship_to }
}
